"""What a paper table is: its YAML, its places, the published numbers, and verdicts on them.

May import `errors` and `reader` only; it is imported by the rest of `report`.
"""
