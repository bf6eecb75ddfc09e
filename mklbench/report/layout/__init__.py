"""What stands on the page of a table, block by block: grids, claims, ranks, origins, ledger.

May import `report.table`, `analysis`, `claims` and `document`; it is imported by `figures` and
`results`.
"""
