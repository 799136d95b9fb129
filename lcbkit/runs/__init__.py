"""A run from the inside: its configuration, its folder, its events, and the batch that fills it."""
