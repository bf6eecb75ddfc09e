"""From training samples, files or other kernels to a bank or a family, as a config names them.

May import all of `kernels`; outside, builders are asked for as `mklbench.kernels.NAME`.
"""
