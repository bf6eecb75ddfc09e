"""What ``predictions=FILE`` writes: the prediction of every test row of the finished splits."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from mklbench import multiclass
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import decision_again
from mklbench.experiments.files import reason, write_atomically
from mklbench.experiments.record import Record
from mklbench.experiments.records import CellRecords
from mklbench.extras import missing


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
    lines = [
        line
        for result in results
        for record in result.records
        if record.is_done
        for line in _lines(result.cell, record)
    ]
    frame = pd.DataFrame(lines)
    try:
        if path.endswith(".csv"):
            write_atomically(path, frame.to_csv(index=False))
        else:
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            write_atomically(path, buffer.getvalue())
    except OSError as error:
        raise InputError(f"predictions={path} cannot be written: {reason(error)}.") from error


def _lines(cell: Cell, record: Record) -> list[dict[str, Any]]:
    data = cell.dataset()
    test = cell.rows(record.split)[1]
    decision = decision_again(cell, record)
    run = {"algo": cell.algo, "kernel": cell.kernel, "data": cell.data, "split": record.split}
    of_file = np.arange(len(data.y)) if data.rows is None else data.rows
    predicted = None if data.targets is not None else multiclass.predict(decision)
    lines = []
    for k, row in enumerate(test):
        line: dict[str, Any] = {**run, "row": int(of_file[row])}
        if data.sample_names:
            line["sample"] = data.sample_names[0][row]
        if predicted is None or data.targets is not None:
            line |= {"label": data.targets[row], "prediction": decision[k]}  # type: ignore[index]
        else:
            line |= {"label": data.classes[data.y[row]], "prediction": data.classes[predicted[k]]}
            values = np.atleast_1d(decision[k])
            names = [f"decision_{name}" for name in data.classes]
            line |= dict(zip(names if len(values) > 1 else ["decision"], values, strict=True))
        lines.append(line)
    return lines
