"""Sweeps: many cells, on as many computers as there are."""
