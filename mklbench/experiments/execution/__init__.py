"""Steps of runs carried out in worker processes, here or elsewhere, and recorded in a store.

May import what else is in `experiments`; it is imported by `report.check` and `commands`.
"""
