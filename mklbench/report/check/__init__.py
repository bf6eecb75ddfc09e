"""The regression of published numbers: recorded splits are run again and compared.

May import all of `report`; it is imported by `commands` only.
"""
