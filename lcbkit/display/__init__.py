"""Showing programs, answers and differences: as pieces of HTML and as text for the terminal."""
