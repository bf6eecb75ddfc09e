"""What the algorithms share: the value of an SVM at any kernel weights, models of it, searches.

May import `kernels`, `penalties`, `libsvm`, `certify` and `solution`; it is imported by
`algorithms` and, for what a fit needs of memory and refuses beforehand, by what is above.
"""
