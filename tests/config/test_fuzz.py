"""Whatever an override or a table's YAML says, it is taken or refused in a sentence."""

from __future__ import annotations

import copy
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from fuzzing import examples
from hypothesis import given
from hypothesis import strategies as st

from mklbench import config as configs
from mklbench import resources
from mklbench.errors import InputError
from mklbench.report.loading import read_table
from mklbench.report.table.paper_table import PaperTable

keys = st.sampled_from(
    [
        *("algo", "kernel", "data", "split", "search", "jobs", "timeout", "results_dir", "out"),
        *("progress", "algo.C", "algo.tol", "+algo.nonsense", "kernel.name", "data.path"),
        *("data.drop_features", "data.positive", "split.n_splits", "split.test_fraction"),
        *("split.seed", "split.scaling", "search.folds", "search.grid.algo.C", "+search.tol"),
        *("algo._target_", "~algo", "++data.max_bytes", "hydra.run.dir", "split.n_train"),
    ]
)
values = st.one_of(
    st.sampled_from(
        [
            *("svm", "mkl", "sonar", "csv", "cv", "null", "true", "nan", "inf", "-1", "0", "1e400"),
            *("???", "${data.name}", "${nothing}", "[1,2]", "{a:1}", "'quoted'", "os.system", ""),
            *("99999999999999999999", "1.5", "a,b", "choice(1,2)", "range(3)", "[[1]]"),
        ]
    ),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
overrides = st.lists(
    st.tuples(keys, values).map("=".join) | st.text(max_size=10), min_size=1, max_size=3
)


@given(overrides)
@examples(10)
def test_arbitrary_overrides(given: list[str]) -> None:
    with suppress(InputError):
        composed = configs.compose(given)
        assert set(configs.cell_config(composed)) == set(configs.GROUPS)
        configs.run_config(composed)


TABLES = [resources.choices("table")[name] for name in ("picard2012_table2", "all_methods")]
TREES = [resources.read_yaml(path) for path in TABLES]
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "label", "kind", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def changed(draw: st.DrawFn) -> Any:
    """The tree of a table with a few of its entries replaced, taken out or renamed."""
    tree = copy.deepcopy(draw(st.sampled_from(TREES)))
    for _ in range(draw(st.integers(1, 3))):
        node: Any = tree
        while True:
            at = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[at], dict | list) or not node[at] or draw(st.booleans()):
                break
            node = node[at]
        how = draw(st.sampled_from(["replace", "remove", "double"]))
        if how == "replace":
            node[at] = draw(plain)
        elif how == "remove" and len(node) > 1:
            del node[at]
        elif isinstance(node, list):
            node.insert(at, node[at])
        else:
            node[f"{at}s"] = node[at]
    return tree


@given(changed() | plain)
@examples(12)
def test_arbitrary_tables(tmp_path: Path, tree: Any) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(yaml.safe_dump(tree), encoding="utf-8")
    with suppress(InputError):
        assert isinstance(read_table(path), PaperTable)


@given(
    st.binary(max_size=60) | st.text("{}[]&*!|>-:,#'\"\t\n ab1?@`%", max_size=40).map(str.encode)
)
@examples(40)
def test_arbitrary_yaml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(content)
    with suppress(InputError):
        resources.read_yaml(path)
