"""Prompt optimizers: better role prompts for a team under a budget, tested on problems they never saw."""
