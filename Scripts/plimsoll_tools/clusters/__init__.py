"""Sweeps, comparisons and searches on Slurm and Dask."""
