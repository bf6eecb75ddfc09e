"""The regularisers: sets that kernel weights lie on, and norms of them, one file each.

May import `errors` and `validation` only; it is imported by `certify`, `optim` and `algorithms`.
"""
