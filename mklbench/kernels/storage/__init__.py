"""How Gram matrices are kept: packed halves, low-rank factors, and which of both is cheaper.

May import `kernels.base`, `functions` and `centring` only; it is imported by `banks`.
"""
