"""The record of one split of a run, and that of a choice of hyperparameters; as JSON both ways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from mklbench.errors import first_line
from mklbench.experiments.checksum import SCHEMA, DamagedError

DONE: Final = "done"
Ended = Literal["done", "failed", "timeout"]

_ENDED = (DONE, "failed", "timeout")


def _later() -> Any:
    """Declare a value that records made before it was thought of do not have."""
    return field(default=None, metadata={"later": True})


@dataclass(frozen=True)
class Selection:
    """The hyperparameters chosen on one training part.

    Attributes
    ----------
    params : dict
        Dotted path -> value (``{"algo.C": 10}``); empty if nothing was searched.
    accuracy : float, optional
        Share of the training rows classified correctly while they were held out; None if nothing
        was searched, or if it was by their RMSE.
    seconds : float
        Wall-clock seconds of the search.
    rmse : float, optional
        Root mean squared error of the decision values of the training rows while they were held
        out; None if nothing was searched, or if it was by accuracy.
    score : float, optional
        Mean over the held-out rows of the scorer of scikit-learn that was searched by, if one was.
    at_border : sequence of str, optional
        The hyperparameters, by dotted path, whose choice is at an end of what was tried.
    """

    params: dict[str, Any] = field(default_factory=dict)
    accuracy: float | None = None
    seconds: float = 0.0
    rmse: float | None = None
    score: float | None = None
    at_border: Sequence[str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return its JSON, without the later values where there are none."""
        content = {item.name: getattr(self, item.name) for item in fields(self)}
        return {k: v for k, v in content.items() if v is not None or k not in _LATER_OF_SELECTION}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Selection:
        """Return a selection from its JSON; older ones lack the later values."""
        return cls(**{name: content[name] for name in cls.__annotations__ if name in content})


_LATER_OF_SELECTION = ("score", "at_border")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is known of one split of a run after it has ended, in whatever way.

    Of a split that did not finish the results are None, and so is in older records what was not
    recorded then. All seconds but `fit_cpu_seconds` are of the wall clock.

    Attributes
    ----------
    key : str
        Key of the run (12 hexadecimal digits).
    algo, kernel, data, search : str
        Names of the run's configs.
    split : int
        Number of the split, from 0.
    split_source : str, optional
        Whether the split is "official", of the data's source, or "random", drawn by us.
    n_train, n_test : int, optional
        Numbers of samples in the training and in the test part.
    C : float, optional
        The algorithm's C; None if it has none.
    params : dict, optional
        The hyperparameters that were chosen: dotted path -> value; empty if none was searched.
    selections : sequence of dict, optional
        The selections that all splits of the run share, as JSON (`shared_selections`).
    search_accuracy, search_rmse, search_score : float, optional
        `accuracy`, `rmse` and `score` of the split's own selection.
    at_border : sequence of str, optional
        That of the selection; where all splits share several, of most of them.
    accuracy : float, optional
        Share of the test samples classified correctly; None of a regression.
    rmse : float, optional
        Root mean squared error on the test part: in the units of the targets, or of the decision
        values of two classes against -1 and +1.
    scores : dict, optional
        Values on the test part by scikit-learn's scorers, by their names, and of `model_bytes`;
        only those asked for.
    n_kernels : float, optional
        Kernels with a weight other than 0; of several classes the mean over the binary problems.
    n_base_kernels : int, optional
        Kernels to choose from; None where the solver found its own among infinitely many.
    n_support : int, optional
        Training samples that any of the machines needs to predict.
    n_evaluations : int, optional
        Kernel evaluations that the prediction of one sample takes: kernels with a weight times
        support vectors, summed over the machines.
    objective : float, optional
        Objective at the weights returned, in the paper's scaling; of several classes the sum.
    gap : float, optional
        Certified gap, relative; of several classes the largest.
    family_gap : float, optional
        Of infinite kernel learning, with what an independent search found beyond the kernels of
        `gap`; of several classes the largest. None where no such search was made.
    converged : bool, optional
        Whether every fit met its stopping rule.
    landmarks : int, optional
        Where kernels have landmarks in their place, so that the gap is that of an approximation:
        how many the kernel has that has most.
    effect_on_objective : float, optional
        How much lower the optimum of the kernels themselves may be then beside the gap, relative,
        estimated; of several classes the largest.
    svm_calls : int, optional
        SVMs solved.
    n_problems : int, optional
        Binary problems or regressions solved.
    n_iter : int, optional
        Iterations, summed over the problems.
    ascents : int, optional
        The most ascents that an iteration of VSKL's block coordinate ascent took.
    descent : dict of str to list, optional
        The course of the fit over its iterations: ``svm_calls``, ``objective`` and, where it is
        known, ``gap`` (`mklbench.experiments.evaluation`); None where it took no more than one.
    fit_seconds, fit_cpu_seconds : float, optional
        Seconds of wall clock and of processor time in `solve`.
    svm_seconds : float, optional
        Seconds of these inside the SVM solver.
    kernel_seconds, search_seconds, predict_seconds : float, optional
        Seconds of building the kernels, of choosing hyperparameters, and of the test part.
    relevant_weight : float, optional
        Share of the weights that lies on features which are not appended noise.
    weights : list, optional
        Kernel weights (M,), or one such list a class of several; None of too many kernels.
    active_weights : dict of str to float or list, optional
        Of these, the weights other than 0 by the names of their kernels; a dict a class of several.
    status : {"done", "failed", "timeout"}
        How the split ended.
    error, traceback : str, optional
        What went wrong, in one sentence and in full.
    seed : int, optional
        Seed of the splits.
    data_digest, data_source : str, optional
        Digest of the data's content, and the URL or the names of the files it came from.
    sources : dict, optional
        Digests of the code, of older records alone: the revision tells it now.
    provenance : dict
        Versions, processor, BLAS, git revision and time, of a cluster also node and job
        (`mklbench.experiments.provenance`).
    unstated : frozenset of str
        Values that the JSON this was read from did not have; nor will its own.
    unknown : dict
        What a newer version has written that this one does not know; it is kept.
    """

    key: str
    algo: str
    kernel: str
    data: str
    search: str
    split: int
    split_source: str | None = _later()
    n_train: int | None = None
    n_test: int | None = None
    C: float | None = None
    params: Mapping[str, Any] | None = None
    selections: Sequence[Mapping[str, Any]] | None = _later()
    search_accuracy: float | None = _later()
    search_rmse: float | None = _later()
    search_score: float | None = _later()
    at_border: Sequence[str] | None = _later()
    accuracy: float | None = None
    rmse: float | None = None
    scores: Mapping[str, float | None] | None = _later()
    n_kernels: float | None = None
    n_base_kernels: int | None = None
    n_support: int | None = _later()
    n_evaluations: int | None = _later()
    objective: float | None = None
    gap: float | None = None
    family_gap: float | None = _later()
    converged: bool | None = None
    landmarks: int | None = _later()
    effect_on_objective: float | None = _later()
    svm_calls: int | None = None
    n_problems: int | None = _later()
    n_iter: int | None = None
    ascents: int | None = _later()
    descent: Mapping[str, Sequence[float | None]] | None = _later()
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = _later()
    svm_seconds: float | None = None
    kernel_seconds: float | None = None
    search_seconds: float | None = None
    predict_seconds: float | None = None
    relevant_weight: float | None = None
    weights: Sequence[Any] | None = None
    active_weights: Mapping[str, float] | Sequence[Mapping[str, float]] | None = _later()
    status: Ended
    error: str | None = None
    traceback: str | None = _later()
    seed: int | None = _later()
    data_digest: str | None = _later()
    data_source: str | None = _later()
    sources: Mapping[str, str] | None = _later()
    provenance: Mapping[str, Any]
    unstated: frozenset[str] = frozenset({"sources"})
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.status == DONE

    @property
    def reason(self) -> str:
        """The first line of `error`, which may have several; empty where there is a result."""
        return first_line(self.error) if self.error else ""

    @property
    def cpu(self) -> str | None:
        """The CPU model on which it was timed; None where the provenance names none."""
        return self.provenance.get("cpu") or None

    @property
    def shared_selections(self) -> dict[int, Selection]:
        """The selections that all splits of the run share, by split; empty if they do not."""
        return {item["split"]: Selection.from_json(item) for item in self.selections or ()}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the record, without its checksum."""
        stated = {name: getattr(self, name) for name in _NAMES if name not in self.unstated}
        return {"schema": SCHEMA, **stated, **self.unknown}

    @classmethod
    def from_json(
        cls, content: Mapping[str, Any], key: str | None = None, split: int | None = None
    ) -> Record:
        """Return the record in a JSON object that was read.

        Parameters
        ----------
        content : dict
            The object, its checksum checked.
        key, split : str and int, optional
            The run and the split whose record it has to be; any if they are not given.

        Raises
        ------
        DamagedError
            If it is no such record, or is said to be done and lacks a result.
        """
        _check(content, key, split)
        return cls(
            **{name: content[name] for name in _NAMES if name in content},
            unstated=frozenset(name for name in _LATER if name not in content),
            unknown={name: content[name] for name in sorted(content.keys() - _KNOWN)},
        )


_OF_JSON = [item for item in fields(Record) if item.name not in ("unstated", "unknown")]
_NAMES = dict.fromkeys(item.name for item in _OF_JSON)
_KNOWN = {*_NAMES, "schema"}
_LATER = [item.name for item in _OF_JSON if "later" in item.metadata]


def _check(content: Mapping[str, Any], key: str | None, split: int | None) -> None:
    if content.get("status") not in _ENDED:
        raise DamagedError("it is no record")
    found = content.get("key")
    if not isinstance(found, str) or key not in (None, found):
        raise DamagedError("it is the record of another run")
    number = content.get("split")
    if not _is_count(number) or split not in (None, number):
        raise DamagedError("it is the record of another split")
    missing = [name for name in _NAMES if name not in content and name not in _LATER]
    if content["status"] == DONE:
        measured = ("objective", "gap", "rmse" if content.get("accuracy") is None else "accuracy")
        missing += [name for name in measured if not _is_number(content.get(name))]
    if missing:
        raise DamagedError(f"it lacks {', '.join(dict.fromkeys(missing))}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
