"""The figures of a table: one module a kind, found by its class, and `draw`, which writes them.

May import `report.table`, `analysis` and `layout`; it is imported by `loading`, `results` and
`commands`.
"""
