"""Data sets of OpenML, from the answers of its server that scikit-learn ships for its own tests."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY
from sklearn.datasets import _openml, load_iris

from mklbench.data import is_at_hand, load
from mklbench.errors import DataError

ANSWERS = files("sklearn.datasets.tests.data.openml")
SHORT = {"data/features": "jdf", "data/qualities": "jdq", "data": "jd"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return tmp_path


class Answer(io.BytesIO):
    def info(self) -> dict[str, str]:
        return {"Content-Encoding": "gzip"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Serve the shipped answers; the list tells what was asked for."""
    urls: list[str] = []

    def answer(request: Any, *_: Any, **__: Any) -> Answer:
        url = request.get_full_url()
        urls.append(url)
        api = re.search(r"api/v1/json/(data(?:/features|/qualities)?)/(\d+)$", url)
        if api is not None:
            folder, name = f"id_{api[2]}", f"api-v1-{SHORT[api[1]]}-{api[2]}.json.gz"
        else:
            found = re.search(r"data/v1/download/(\d+)", url)
            assert found is not None, url
            folder = next(f.name for f in ANSWERS.iterdir() if (f / arff(found[1])).is_file())
            name = arff(found[1])
        path = ANSWERS / folder / name
        if not path.is_file():
            raise HTTPError(url, 412, "Precondition Failed", {}, None)  # type: ignore[arg-type]
        return Answer(path.read_bytes())

    monkeypatch.setattr(_openml, "urlopen", answer)
    return urls


def arff(number: str) -> str:
    return f"data-v1-dl-{number}.arff.gz"


def failing(error: Exception) -> Callable[..., Any]:
    def answer(*_: Any, **__: Any) -> Any:
        raise error

    return answer


def config(number: int, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CONFIG_DIRECTORY / "openml.yaml").read_text())
    return found | {"id": number} | options


def refusal(*args: Any, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(config(*args, **options))
    return str(caught.value)


def test_iris_comes_once_and_is_iris(asked: list[str], cache: Path) -> None:
    assert not is_at_hand(config(61))
    dataset = load(config(61))
    iris = load_iris()
    assert dataset.feature_names == ("sepallength", "sepalwidth", "petallength", "petalwidth")
    assert dataset.classes == ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    np.testing.assert_array_equal(dataset.y, iris.target)
    assert np.sum(np.any(iris.data != dataset.X, axis=1)) <= 2  # where the UCI file differs
    assert len(asked) == 4
    assert is_at_hand(config(61))
    assert load(config(61)).digest == dataset.digest
    assert len(asked) == 4
    assert [path.name for path in cache.rglob("*") if path.is_file()] == ["61"]


def test_columns_are_asked_about_as_those_of_a_file(asked: list[str]) -> None:
    said = refusal(61, label="petalwidth", task="regression")
    assert said.startswith("data.id=61, column 5 (class) holds text, such as 'Iris-setosa'")
    options = {"label": "petalwidth", "task": "regression", "categories": "onehot"}
    assert load(config(61, **options)).X.shape == (150, 6)
    assert refusal(61, label="colour").startswith(
        "data.label=colour is not a column of data.id=61: it has sepallength, "
    )


def test_a_damaged_copy_is_replaced(asked: list[str], cache: Path) -> None:
    expected = load(config(61)).digest
    kept = cache / "openml" / "61"
    kept.write_bytes(kept.read_bytes()[:2000])
    assert load(config(61)).digest == expected
    assert len(asked) == 8


def test_an_unknown_number_is_said(asked: list[str], cache: Path) -> None:
    said = refusal(99999)
    assert said.startswith("data=openml could not be had from data.id=99999 (OpenML has no data")
    assert said.endswith("set 99999): check the number and the network.")
    assert not list(cache.rglob("99999"))


def test_several_targets_are_a_choice(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    features = _openml._get_data_features

    def without_target(*args: Any, **kwargs: Any) -> Any:
        return [feature | {"is_target": "false"} for feature in features(*args, **kwargs)]

    monkeypatch.setattr(_openml, "_get_data_features", without_target)
    assert refusal(61) == (
        "data.id=61 has no single target: set data.label to the column of the classes; it has "
        "sepallength, sepalwidth, petallength, petalwidth, class."
    )
    assert load(config(61, label="class")).classes[0] == "Iris-setosa"


def test_a_sparse_set_is_refused(asked: list[str]) -> None:
    assert "(it is sparse, and only dense sets are read)" in refusal(292)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (URLError("no route to host"), "OpenML cannot be reached: no route to host"),
        (TimeoutError("timed out"), "OpenML cannot be reached: timed out"),
        (HTTPError("u", 503, "Busy", {}, None), "OpenML answers 503 Busy"),  # type: ignore[arg-type]
    ],
)
def test_no_network_is_one_sentence(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_openml, "urlopen", failing(error))
    said = refusal(61)
    assert said.startswith(f"data=openml could not be had from data.id=61 ({says}): ")
    assert "\n" not in said
