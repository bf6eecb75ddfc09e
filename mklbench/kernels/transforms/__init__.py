"""Banks made of banks: normalised, scaled, standardised, side by side, combined, or a part.

May import `kernels.banks` and `kernels.storage`; it is imported by `builders`.
"""
