"""What ``predictions=FILE`` writes: the prediction of every test row of the finished splits."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mklbench import multiclass
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import decision_again
from mklbench.experiments.files import reason, write_atomically
from mklbench.experiments.record import Record
from mklbench.experiments.records import CellRecords
from mklbench.extras import missing

if TYPE_CHECKING:
    from pandas import DataFrame


def write_predictions(path: str, results: Sequence[CellRecords]) -> None:
    """Fit the finished splits again, as they were recorded, and write what they predict.

    A line is a test row: its run, split and row number in the table, from 0, the name of the
    sample where the table has one, the label, the prediction and the decision value, or one of
    each class.

    Parameters
    ----------
    path : str
        A .csv or .parquet file.
    results : sequence of CellRecords
        The runs.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    import pandas as pd

    if path.endswith(".parquet") and (asked := missing("files", f"predictions={path}", "pyarrow")):
        raise InputError(asked)
    done = [(one.cell, record) for one in results for record in one.records if record.is_done]
    frames = [_frame(cell, record) for cell, record in done]
    frame = pd.concat(frames) if frames else pd.DataFrame()
    try:
        if path.endswith(".csv"):
            write_atomically(path, frame.to_csv(index=False))
        else:
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            write_atomically(path, buffer.getvalue())
    except OSError as error:
        raise InputError(f"predictions={path} cannot be written: {reason(error)}.") from error


def _frame(cell: Cell, record: Record) -> DataFrame:
    """Return the rows of a split: where they are from, and what is predicted of them."""
    import pandas as pd

    data, test = cell.dataset(), cell.rows(record.split)[1]
    decision = decision_again(cell, record)
    columns: dict[str, Any] = {
        "algo": cell.algo,
        "kernel": cell.kernel,
        "data": cell.data,
        "split": record.split,
        "row": test if data.rows is None else np.asarray(data.rows)[test],
    }
    if data.sample_names:
        columns["sample"] = np.asarray(data.sample_names[0])[test]
    if data.targets is not None:
        columns |= {"label": data.targets[test], "prediction": decision}
    else:
        classes = np.asarray(data.classes)
        predicted = classes[multiclass.predict(decision)]
        columns |= {"label": classes[data.y[test]], "prediction": predicted}
        names = [f"decision_{name}" for name in classes] if decision.ndim == 2 else ["decision"]
        columns |= dict(zip(names, np.atleast_2d(decision.T), strict=True))
    return pd.DataFrame(columns)
