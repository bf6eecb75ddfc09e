"""Steps of cells carried out: in this process, or in worker processes, and recorded in a store.

May import what else is in `experiments`; it is imported by `report.check` and `commands`.
"""
