"""The claims in a paper's text: one module a kind, found by its class, and what is judged of them.

May import `report.table` and `analysis`; it is imported by `layout` and `loading`.
"""
