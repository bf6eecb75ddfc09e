"""What is composed once and copied is what Hydra composes, for any overrides."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzzing import examples
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

from mklbench import resources
from mklbench.config import cell_config, composition, config_of
from mklbench.config.composition import compose, composed, searching
from mklbench.config.parts import _groups
from mklbench.errors import InputError
from mklbench.report.loading import load_table


def by_hydra(overrides: list[str], config_dir: Path | None = None) -> DictConfig:
    """Compose as Hydra does, from nothing."""
    with initialize_config_dir(str(resources.configs()), version_base="1.3"):
        return hydra_compose("config", searching(config_dir, overrides))


def outcome(compose: Callable[[list[str]], DictConfig], overrides: list[str]) -> object:
    """Return what comes of composing: the config, its flags and types, or the error."""
    try:
        config = compose(overrides)
    except Exception as error:
        return type(error), str(error), str(error.__cause__)
    groups = (node for _, node in config.items_ex(resolve=False))
    nodes = [config, *(node for node in groups if isinstance(node, DictConfig))]
    flags = [(node._metadata.flags, node._metadata.ref_type) for node in nodes]
    return OmegaConf.to_yaml(config), list(config), flags


def same(overrides: list[str]) -> bool:
    return outcome(lambda given: composed(given, None), overrides) == outcome(by_hydra, overrides)


def kind(override: str) -> str:
    """Return what an override sets; each choice but that of the data is a kind of its own."""
    key = override.partition("=")[0]
    return override if key in ("algo", "kernel", "split", "search") else key


def places(tells_apart: Callable[[str], str]) -> list[list[str]]:
    """Return the overrides of few cells of the tables which together have every kind."""
    seen: set[str] = set()
    found = []
    for name in resources.choices("table"):
        for slot in load_table(name).slots():
            kinds = {tells_apart(override) for override in slot.overrides}
            if not seen >= kinds:
                seen |= kinds
                found.append(list(slot.overrides))
    return found


def test_every_kind_of_override_in_the_tables() -> None:
    for overrides in places(kind):
        assert same(overrides), overrides
        assert _groups(overrides) is not None, overrides
        assert config_of(overrides) == cell_config(composed(overrides, None)), overrides


@pytest.mark.slow
def test_every_override_in_the_tables() -> None:
    for overrides in places(str):
        assert same(overrides), overrides


def choice_of(group: str) -> st.SearchStrategy[str]:
    names = st.sampled_from([*resources.choices(group), "nowhere"])
    return st.tuples(st.sampled_from(["", "", "", "", "+"]), names).map(
        lambda pair: f"{pair[0]}{group}={pair[1]}"
    )


chosen = st.one_of(*(choice_of(group) for group in ("algo", "kernel", "data", "split", "search")))
keys = st.sampled_from(
    [
        *("algo.C", "algo.tol", "algo.name", "kernel.gamma", "kernel.base", "data.n_samples"),
        *("data.positive", "split.n_splits", "split.seed", "search.folds", "search.grid.algo.C"),
        *("search.grid.algo", "search.grid", "jobs", "timeout", "algo", "new", "new.deep", "table"),
    ]
)
values = st.sampled_from(
    [
        *("1", "0.5", "1e-3", "true", "null", "text", "'a, b'", "[1,2]", "[]", "{a: 1}", "{}", ""),
        *("${algo.C}", "${nothing}", "???", "1,2", "range(3)", "[", "int('3')", "svm", "gaussian"),
    ]
)
changes = st.tuples(st.sampled_from(["", "", "+", "++"]), keys, values).map(
    lambda parts: f"{parts[0]}{parts[1]}={parts[2]}"
)
removals = keys.map("~{}".format) | st.tuples(keys, values).map(lambda pair: f"~{'='.join(pair)}")


@pytest.mark.slow
@given(
    st.lists(chosen, max_size=3),
    st.lists(changes | removals | changes, max_size=5),
    st.randoms(use_true_random=False),
)
@examples(40)
def test_random_overrides(choices: list[str], others: list[str], order: object) -> None:
    overrides = [*choices, *others]
    order.shuffle(overrides)  # type: ignore[attr-defined]
    assert same(overrides)


def test_shipped_configs_are_chosen_without_hydra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "hydra_compose", None)
    first = composed(["algo=vskl", "data=wpbc", "algo.C=3"], None)
    second = composed(["algo=vskl", "algo.C=4", "data=wpbc"], None)
    assert (first.algo.C, second.algo.C) == (3, 4)


def test_the_config_that_is_kept_is_nobodys_to_change() -> None:
    first = composed(["algo=svm"], None)
    first.algo.C = 77
    first.kernel = None
    second = composed(["algo=svm"], None)
    assert (second.algo.C, second.kernel.name) == (1, "gaussian")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own" / "algo").mkdir(parents=True)
    (tmp_path / "own" / "algo" / "mine.yaml").write_text(
        "defaults: [svm, override /kernel@_global_.kernel: product]\nC: 5\n"
    )
    return tmp_path / "own"


def test_own_configs(own: Path) -> None:
    overrides = ["algo=mine", "algo.svm_tol=0.1"]
    ours = outcome(lambda given: composed(given, own), overrides)
    assert ours == outcome(lambda given: by_hydra(given, own), overrides)


def test_own_configs_that_change_are_read_again(own: Path) -> None:
    path = own / "algo" / "mine.yaml"
    assert compose(["algo=mine"], own).algo.C == 5
    path.write_text(path.read_text().replace("5", "17"))
    assert compose(["algo=mine"], own).algo.C == 17
    path.unlink()
    with pytest.raises(InputError, match="algo=mine is not known"):
        compose(["algo=mine"], own)


def test_own_configs_are_of_the_working_directory(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "own" / "algo"
    other.mkdir(parents=True)
    (other / "mine.yaml").write_text("defaults: [svm]\nC: 6\n")
    for place, C in ((tmp_path, 5), (tmp_path / "other", 6), (tmp_path, 5)):
        monkeypatch.chdir(place)
        assert compose(["algo=mine"], "own").algo.C == C


def test_a_failed_composition_leaves_nothing_behind() -> None:
    with pytest.raises(InputError):
        compose(["algo=nowhere"])
    assert same(["algo=svm", "algo.C=2"])


def test_the_environment_is_left_alone() -> None:
    before = dict(os.environ)
    compose(["algo=svm", "algo.C=2"])
    assert dict(os.environ) == before


@pytest.mark.slow
def test_every_cell_of_every_table_is_the_same_from_its_parts() -> None:
    tables = (load_table(name) for name in resources.choices("table"))
    places = {tuple(slot.overrides) for table in tables for slot in table.slots()}
    assert places
    for overrides in places:
        assert _groups(list(overrides)) is not None, overrides
        assert config_of(overrides) == cell_config(composed(list(overrides), None)), overrides


@pytest.mark.parametrize(
    "overrides",
    [
        ["split.n_train=${data.n_samples}"],
        ["split.seed=${kernel.n_jobs}", "algo.C=???"],
        ["data=heart", "data.splits.n_train=12"],
        ["data=heart", "~data.splits"],
        ["data=heart", "split.scaling=${oc.select:kernel.name,minmax}"],
        ["kernel.name=${data.name}", "data.name=${algo.name}"],
        ["jobs=2", "algo=svm", "algo.C=nan"],
        ["+new=1"],
    ],
)
def test_parts_that_refer_to_others(overrides: list[str]) -> None:
    def outcome(make: Callable[[list[str]], dict[str, object]]) -> object:
        try:
            return make(overrides)
        except InputError as error:
            return str(error)

    assert outcome(config_of) == outcome(lambda given: cell_config(compose(given)))
