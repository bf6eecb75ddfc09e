"""What reruns have found of recorded cells that other sources had measured: one file, kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from mklbench.errors import InputError
from mklbench.experiments.files import reason, write_atomically
from mklbench.experiments.record import Record

FILE_NAME = "confirmed.json"

# What a record says of a result, apart from times and places.
NUMBERS = (
    "accuracy", "objective", "gap", "rmse", "svm_calls", "n_kernels", "n_iter", "params",
    "weights",
)  # fmt: skip


@dataclass(frozen=True)
class Confirmation:
    """How a rerun of one recorded split ended.

    Attributes
    ----------
    split : int
        Its number.
    numbers : str
        Digest of the recorded numbers that it was compared with (`numbers_digest`).
    sources : mapping of str to str
        Fingerprint of the sources that made the rerun (`Cell.sources`).
    outcome : str
        "within" what the stopping rule allows, "same" to the digits, as was once said, or "moved".
    detail : str
        What moved, and how far.
    machine : str
        Processor and BLAS kernels of the rerun.
    date : str
        Of the rerun, as 2024-05-06.
    """

    split: int
    numbers: str
    sources: Mapping[str, str]
    outcome: str
    detail: str
    machine: str
    date: str

    def holds_for(self, records: Iterable[Record], sources: Mapping[str, str]) -> bool:
        """Tell whether it is of the records given and of the sources at hand."""
        compared = next((r for r in records if r.split == self.split), None)
        return (
            self.sources == sources
            and compared is not None
            and self.numbers == numbers_digest(compared)
        )


def numbers_digest(record: Record) -> str:
    """Return a digest of the numbers of a record."""
    numbers = {name: getattr(record, name) for name in NUMBERS}
    text = json.dumps(numbers, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Confirmed:
    """The file of confirmations beside the records of the tables, by key of the cell.

    Parameters
    ----------
    directory : Path
        Where the records are; the file is made when the first confirmation is added.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self._found = _read(self.path)

    def __getitem__(self, key: str) -> Confirmation | None:
        return self._found.get(key)

    def add(self, key: str, confirmation: Confirmation) -> None:
        """Write one more, beside those that others have written meanwhile.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        self._found = _read(self.path) | {key: confirmation}
        lines = (
            f"{json.dumps(key)}: {json.dumps(asdict(self._found[key]), sort_keys=True)}"
            for key in sorted(self._found)
        )
        try:
            write_atomically(self.path, "{\n" + ",\n".join(lines) + "\n}\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {reason(error)}.") from error


def _read(path: Path) -> dict[str, Confirmation]:
    names = {item.name for item in fields(Confirmation)}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(key): Confirmation(**{name: item[name] for name in names})
            for key, item in content.items()
        }
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"{path} cannot be read as confirmations ({type(error).__name__}): delete it, and "
            "mklbench check --all makes it anew."
        ) from error
