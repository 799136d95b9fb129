"""Many teams on the same problems: running them, and the folder that they leave."""
