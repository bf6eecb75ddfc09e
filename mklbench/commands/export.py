"""``mklbench export model``: the model of a run, fitted again as an estimator of scikit-learn.

It is a pipeline that takes a table like that of the data, of the scaling of the split and of the
estimator of the run's algorithm, with the hyperparameters that the run has chosen, in a file that
needs this package and nothing of a store.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import config as configs
from mklbench import estimators
from mklbench.commands.run import run_of
from mklbench.config import RunConfig
from mklbench.config.callables import arguments, target
from mklbench.data.preprocessing import fit_scaling
from mklbench.errors import InputError
from mklbench.estimators.transformers import RawTable
from mklbench.experiments.files import check_writable_file
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.kernels.contract import builder_of


def export_model(overrides: Sequence[str], *, out: str, config_dir: str | None = None) -> str:
    """Fit the model of a run on all rows, write it to a file, and return what it is.

    Its hyperparameters are those that most of the finished splits have chosen.

    Parameters
    ----------
    overrides : sequence of str
        Those of the run.
    out : str
        The file: ``.skops`` or ``.joblib``.
    config_dir : str or None, default=None
        A directory of the user's own configs.

    Raises
    ------
    InputError
        If there is no such estimator, or nothing to take hyperparameters from.
    """
    if not out.endswith((".skops", ".joblib")):
        raise InputError(f"--out={out} is not accepted: give the name of a .skops or .joblib file.")
    if out.endswith(".skops") and importlib.util.find_spec("skops") is None:
        raise InputError(f"--out={out} needs skops: pip install skops, or name a .joblib file.")
    check_writable_file("--out", out)
    (job,) = configs.jobs_of(overrides, config_dir)
    run, chosen = run_of(job), {}
    if run.config.search.grid:
        store = Store(configs.run_options(job.config).results_dir)
        store.check()
        counts = Counter(json.dumps(one.params, sort_keys=True) for one in store.read(run).done)
        if not counts:
            raise InputError(
                f"algo={run.algo} with data={run.data} and search={run.search} has no finished "
                f"split in {store.path}, whose hyperparameters could be taken: run it first, with "
                "mklbench run."
            )
        chosen = json.loads(counts.most_common(1)[0][0])  # of several the first
    config, n_rows = run.config.with_values(chosen), len(run.dataset().y)
    pipeline = fitted(run, config, np.arange(n_rows))
    library = importlib.import_module("skops.io" if out.endswith(".skops") else "joblib")
    library.dump(pipeline, out)
    options = " ".join(f"{k}={v}" for k, v in arguments(config.algo).items() if v is not None)
    return f"Wrote {out}: {type(pipeline[-1]).__name__} on all {n_rows} rows ({options})."


def fitted(run: Run, config: RunConfig, rows: NDArray[np.int64]) -> Pipeline:
    """Return the pipeline of a run, fitted on some rows of its data.

    Parameters
    ----------
    run : Run
        The run.
    config : RunConfig
        Its config, with the hyperparameters that are to be used.
    rows : ndarray of shape (n,)
        Numbers of the rows.

    Raises
    ------
    InputError
        If its algorithm has no estimator, or its kernel predicts no new rows.
    """
    data = run.dataset()
    model = _estimator(run, config)
    inputs = data.X[rows]
    steps: list[tuple[str, Any]] = []
    if np.isnan(data.X).any():
        steps.append(("imputing", SimpleImputer(strategy=str(data.impute))))
        inputs = steps[0][1].fit_transform(inputs)
    scaling = fit_scaling(config.split.scaling, inputs)
    # (x - mean_) / scale_ is what each scaling of a split is.
    scaler = StandardScaler().fit(inputs)
    scaler.mean_, scaler.scale_ = scaling.shift, scaling.divisor
    scaler.var_ = scaling.divisor**2
    X = scaler.transform(inputs)
    if data.targets is not None:
        model.fit(X, data.targets[rows])
    else:
        # By codes, so that the positive class is that of the run whatever the labels are.
        model.fit(X, data.y[rows])
        model.classes_ = np.asarray(data.classes)
    table = RawTable.of(data.feature_names, data.X)
    return Pipeline([("table", table), *steps, ("scaling", scaler), ("model", model)])


def _estimator(run: Run, config: RunConfig) -> Any:
    """Return the estimator of the run's algorithm, not fitted."""
    solve, builder = target("algo", config.algo), configs.kernel(config.kernel)
    declared = builder_of(builder)
    if declared.takes_rows or declared.takes_views:
        raise InputError(
            f"kernel={run.kernel} cannot be exported: it is made of rows or views of "
            f"data={run.data}, which an estimator does not know of."
        )
    wanted = run.dataset().targets is not None
    for kind in vars(estimators).values():
        if getattr(kind, "_algorithm", "") == solve.__module__ and is_regressor(kind()) == wanted:
            break
    else:
        raise InputError(
            f"algo={run.algo} cannot be exported: there is no estimator of it for data such as "
            f"data={run.data}."
        )
    parameters, defaults = kind().get_params(), inspect.signature(solve).parameters
    given = arguments(config.algo)
    for name, value in given.items():
        if name not in parameters and value != defaults[name].default:
            raise InputError(
                f"algo.{name}={value} cannot be exported: the estimator {kind.__name__} has no "
                "such parameter."
            )
    kept = {name: value for name, value in given.items() if name in parameters}
    return kind(kernel=builder, **kept)
