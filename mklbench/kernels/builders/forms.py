"""Everything that may stand for a kernel, as a builder from samples to a bank.

A name of `BUILDERS`, a builder, a kernel function (`Gaussian`, `Linear`, `Polynomial`), a function
of two sets of samples such as those of `sklearn.metrics.pairwise`, a kernel of
`sklearn.gaussian_process.kernels`, or a list of these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mklbench.errors import InputError, KindError
from mklbench.kernels.banks.concatenated import ConcatenatedBank
from mklbench.kernels.banks.dense import FunctionBank, NamedFunction
from mklbench.kernels.base import Bank, KernelOperator
from mklbench.kernels.builders.named import BUILDERS, KernelBuilder, on_all_features, resolve
from mklbench.kernels.contract import builder_of, unbound
from mklbench.kernels.functions import Gaussian, Linear, Polynomial
from mklbench.kernels.gram_matrices import check_definite, matrices_of

_ACCEPTED = (
    "give a name such as gaussian, a kernel function such as Gaussian(0.5), a function of two sets "
    "of samples such as rbf_kernel, a builder, or a list of these"
)


class CallableBuilder:
    """Builder of the kernel that a function of two sets of samples is.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns the kernel (n, m) between n and m samples.

    Raises
    ------
    InputError
        When it is called, if what the function returns is no kernel on the training samples.
    """

    takes_sparse = takes_text = True

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        inner, _ = unbound(function)
        module = getattr(inner, "__module__", None) or type(inner).__module__
        self.takes_missing = not module.startswith("sklearn.")

    def __repr__(self) -> str:
        return shown(self._function)

    def __call__(self, X: Any) -> FunctionBank:
        """Return the bank on the training samples `X` (n, d)."""
        named = NamedFunction(self._function, shown(self._function))
        bank = FunctionBank(X, [named])
        check_definite(matrices_of(bank._grams), [named.name], "or choose another function")
        return bank


class ConcatenatedBuilder:
    """Builder of the kernels of several builders on the same samples, one after the other.

    Parameters
    ----------
    builders : sequence of KernelBuilder
        Builders of banks.
    """

    def __init__(self, builders: Sequence[KernelBuilder]) -> None:
        self._builders = tuple(builders)
        declared = [builder_of(builder) for builder in self._builders]
        self.takes_rows = all(each.takes_rows for each in declared)
        self.takes_sparse = all(each.takes_sparse for each in declared)
        self.takes_text = all(each.takes_text for each in declared)
        self.takes_few = all(each.takes_few for each in declared)

    def __repr__(self) -> str:
        return ", ".join(map(shown, self._builders))

    def __call__(self, X: Any) -> ConcatenatedBank:
        """Return the bank on the training samples `X` (n, d)."""
        return ConcatenatedBank([checked_bank(builder(X), builder) for builder in self._builders])


def builder_from(kernel: Any) -> KernelBuilder:
    """Return the builder that stands behind whatever is accepted as a kernel.

    Parameters
    ----------
    kernel : str, callable or sequence of these
        See the module.

    Raises
    ------
    InputError
        If it is nothing that is accepted.
    """
    if isinstance(kernel, str):
        return resolve(kernel)
    if isinstance(kernel, (Gaussian, Linear, Polynomial)):
        return partial(on_all_features, functions=(kernel,))
    if isinstance(kernel, (list, tuple)):
        if not kernel:
            raise InputError(f"kernel={kernel} holds no kernel: {_ACCEPTED}.")
        if all(isinstance(each, (Gaussian, Linear, Polynomial)) for each in kernel):
            return partial(on_all_features, functions=tuple(kernel))
        return ConcatenatedBuilder([builder_from(each) for each in kernel])
    if inspect.isclass(kernel) and not issubclass(kernel, KernelOperator):
        raise InputError(f"kernel={kernel.__name__} is a class: write {kernel.__name__}(...).")
    if not callable(kernel):
        raise InputError(f"kernel={_short(kernel)} is not accepted: {_ACCEPTED}.")
    return CallableBuilder(kernel) if _is_of_pairs(kernel) else kernel


def _is_of_pairs(function: Any) -> bool:
    """Tell whether a callable is a function of two sets of samples, not a builder.

    It is if it has to be called with two positional arguments, or if the second one, which may be
    left out, is called Y or Z as in scikit-learn; kernels of Gaussian processes are such functions.
    """
    if builder_of(function).takes_few:
        return False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function in C says nothing
        return True
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters if each.kind in places]
    if len(positional) < 2:
        return any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    second = positional[1]
    return second.default is inspect.Parameter.empty or second.name in ("Y", "Z", "y", "z")


def checked_bank(operator: Any, builder: Callable[..., Any]) -> Bank:
    """Return what a builder made if it is a bank.

    Raises
    ------
    InputError
        If it is a family, or no kernels at all.
    """
    if isinstance(operator, Bank):
        return operator
    if isinstance(operator, KernelOperator):
        raise KindError(
            f"kernel={shown(builder)} is a family, where a bank is needed: give one such as "
            "gaussians or feature_gaussians."
        )
    raise no_kernels(operator, builder)


def no_kernels(returned: object, builder: Callable[..., Any]) -> InputError:
    """Build the error for a builder that returns something else than kernels.

    Parameters
    ----------
    returned : object
        What it returned.
    builder : callable
        The builder.
    """
    return InputError(
        f"kernel={shown(builder)} returns a {type(returned).__name__} when it is called with "
        "samples, and no bank of kernels: a function of two sets of samples has two arguments, "
        "function(X, Z)."
    )


def shown(function: Any) -> str:
    """Return a callable as names of kernels have it, such as "rbf_kernel(gamma=0.1)"."""
    for name, builder in BUILDERS.items():
        if function is builder:
            return name
    if isinstance(function, partial):
        inner, options = unbound(function)
        if inner is on_all_features:
            return ", ".join(map(repr, options["functions"]))
        bound = ", ".join(f"{name}={_short(value)}" for name, value in options.items())
        return f"{shown(inner)}({bound})"
    named = getattr(function, "__name__", None)
    if named is not None:
        return "lambda" if named == "<lambda>" else str(named)
    # The kernels of Gaussian processes have a name that tells; by default Python shows an address.
    own = type(function).__repr__ is not object.__repr__
    return _short(function) if own else type(function).__name__


def _short(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.4g}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
