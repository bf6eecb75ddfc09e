"""Runs, their evaluation and selection, records, the store.

May import the library and `data` and `config`; it is imported by `report` and `commands`.
"""
