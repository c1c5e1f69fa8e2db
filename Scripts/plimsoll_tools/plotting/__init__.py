"""The pictures of runs, comparisons and sweeps."""
