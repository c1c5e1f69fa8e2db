"""The self-contained page about runs."""
