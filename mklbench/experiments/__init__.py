"""Experiments: cells, model selection, the store of records, and how cells are executed."""
