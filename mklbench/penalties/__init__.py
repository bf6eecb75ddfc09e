"""The penalties: what keeps learned kernel weights small, or on a set; one file each.

Each is a `Penalty` of `mklbench.penalties.base`, what `mklbench.certify.bounds` takes. May import
`errors`, `validation` and `kernels` only; it is imported by `certify`, `optim` and `algorithms`.
"""
