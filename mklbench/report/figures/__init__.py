"""The figures of a table: one module a kind, and `draw`, which writes them.

May import `report.table`, `analysis` and `layout`; it is imported by `results` and `commands`.
"""
