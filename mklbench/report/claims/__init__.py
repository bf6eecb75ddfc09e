"""The claims in a paper's text: a class for each kind, found here, and what is judged of them.

May import `report.table` and `analysis`; it is imported by `layout` and `loading`.
"""
