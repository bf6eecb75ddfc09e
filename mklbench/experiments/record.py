"""The record of one split of a run, and that of a choice of hyperparameters; as JSON both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal

from mklbench.errors import first_line
from mklbench.experiments.files import SCHEMA, DamagedError

DONE: Final = "done"
Ended = Literal["done", "failed", "timeout"]


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
        """Return its JSON, without the values that it has not."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Selection:
        """Return a selection from its JSON."""
        return cls(**{name: content[name] for name in cls.__annotations__ if name in content})


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
    provenance : dict
        Versions, processor, BLAS, git revision and time (`mklbench.experiments.provenance`).
    names : tuple of str
        What the JSON that this was read from has, in its order, and so will its own.
    unknown : dict
        What of this is from another version, and means nothing to this one.
    """

    key: str
    algo: str
    kernel: str
    data: str
    search: str
    split: int
    split_source: str | None = None
    n_train: int | None = None
    n_test: int | None = None
    C: float | None = None
    params: Mapping[str, Any] | None = None
    selections: Sequence[Mapping[str, Any]] | None = None
    search_accuracy: float | None = None
    search_rmse: float | None = None
    search_score: float | None = None
    at_border: Sequence[str] | None = None
    accuracy: float | None = None
    rmse: float | None = None
    scores: Mapping[str, float | None] | None = None
    n_kernels: float | None = None
    n_base_kernels: int | None = None
    n_support: int | None = None
    n_evaluations: int | None = None
    objective: float | None = None
    gap: float | None = None
    family_gap: float | None = None
    converged: bool | None = None
    svm_calls: int | None = None
    n_problems: int | None = None
    n_iter: int | None = None
    ascents: int | None = None
    descent: Mapping[str, Sequence[float | None]] | None = None
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = None
    svm_seconds: float | None = None
    kernel_seconds: float | None = None
    search_seconds: float | None = None
    predict_seconds: float | None = None
    relevant_weight: float | None = None
    weights: Sequence[Any] | None = None
    active_weights: Mapping[str, float] | Sequence[Mapping[str, float]] | None = None
    status: Ended
    error: str | None = None
    traceback: str | None = None
    seed: int | None = None
    data_digest: str | None = None
    data_source: str | None = None
    provenance: Mapping[str, Any]
    names: tuple[str, ...] = field(default=(), compare=False)
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
        known = {**vars(self), **self.unknown}
        return {"schema": SCHEMA} | {name: known[name] for name in self.names or _NAMES}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Record:
        """Return the record in a JSON object that was read, its checksum checked.

        Raises
        ------
        DamagedError
            If it is no record, or is said to be done and lacks a result.
        """
        needed = list(_NEEDED)
        if content.get("status") == DONE:
            of_targets = content.get("accuracy") is None
            needed += ["objective", "gap", "rmse" if of_targets else "accuracy"]
        if lacks := [name for name in needed if content.get(name) is None]:
            raise DamagedError(f"it lacks {', '.join(lacks)}")
        names = tuple(name for name in content if name != "schema")
        return cls(
            **{name: content[name] for name in names if name in _NAMES},
            names=names,
            unknown={name: content[name] for name in names if name not in _NAMES},
        )


_NAMES = dict.fromkeys(item.name for item in fields(Record)[:-2])
_NEEDED = [item.name for item in fields(Record) if item.default is item.default_factory is MISSING]
