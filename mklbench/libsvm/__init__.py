"""The inner solver: LIBSVM on dense Gram matrices, without copies through Python objects.

`binding` fills one reused buffer and calls LIBSVM; `problems` has what is solved, the C-SVC, the
epsilon-SVR and the one-class SVM; `options` says which options LIBSVM can do.

May import `errors` and `validation`; it is imported by `optim`, `algorithms` and `one_class`.
"""

from mklbench.libsvm.binding import Machine, SVMSolution
from mklbench.libsvm.problems import SVM, SVR, OneClassSVM

__all__ = ["SVM", "SVR", "Machine", "OneClassSVM", "SVMSolution"]
