"""Numbers: from the records of a table's runs to means, baselines, growth, p-values, estimates.

May import `report.table`; it is imported by `layout`, `figures`, `check` and `results`.
"""
