"""From records to what is said of them: tables by group, paired comparisons, prices (pure functions)."""
