"""Benchmarks of speed and memory, printed as ratios measured within one run: ``make bench``."""
