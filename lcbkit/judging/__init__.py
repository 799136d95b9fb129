"""Verdicts for programs that nobody trusts."""
