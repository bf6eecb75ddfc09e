"""What is put together without Hydra is what Hydra composes; what is set is not searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mklbench import config as configs
from mklbench import resources
from mklbench.config.composition import _put_together
from mklbench.errors import InputError
from mklbench.report.loading import load_table


def by_hydra(overrides: list[str]) -> configs.RunConfig:
    return configs.run_config(configs.compose(overrides))


def kind(override: str) -> str:
    """Return what an override sets; each choice but that of the data is a kind of its own."""
    key = override.partition("=")[0]
    return override if key in ("algo", "kernel", "split", "search") else key


def positions(tells_apart: Callable[[str], str]) -> list[list[str]]:
    """Return the overrides of few positions of the tables which together have every kind."""
    slots = (slot for name in resources.choices("table") for slot in load_table(name).slots())
    kinds = {slot.overrides: {tells_apart(text) for text in slot.overrides} for slot in slots}
    found: list[list[str]] = []
    while kinds:  # the one with most that is new is next
        best = max(kinds, key=lambda overrides: len(kinds[overrides]))
        new = kinds.pop(best)
        found.append(list(best))
        kinds = {key: left for key, had in kinds.items() if (left := had - new)}
    return found


def test_every_kind_of_override_in_the_tables() -> None:
    for overrides in positions(kind):
        assert _put_together(overrides) is not None, overrides
        assert configs.config_of(overrides) == by_hydra(overrides), overrides


@pytest.mark.slow
def test_every_override_in_the_tables() -> None:
    for overrides in positions(str):
        assert configs.config_of(overrides) == by_hydra(overrides), overrides


@pytest.mark.parametrize(
    "overrides",
    [
        ["split.n_train=${data.n_samples}"],
        ["data=heart", "data.splits.n_train=12"],
        ["data=heart", "~data.splits"],
        ["data=heart", "split.scaling=${oc.select:kernel.name,minmax}"],
        ["algo=svm", "algo.C=nan"],
        ["algo=svm", "+algo.C=3"],
        ["algo=svm", "++algo.C=3"],
        ["algo=svm", "search.grid={algo.C:[1,2]}"],
        ["+new=1"],
    ],
)
def test_what_no_table_has_is_the_same_too(overrides: list[str]) -> None:
    def outcome(make: Callable[[list[str]], configs.RunConfig]) -> object:
        try:
            return make(overrides)
        except InputError as error:
            return str(error)

    assert outcome(configs.config_of) == outcome(by_hydra)


def test_own_configs_are_read_anew_each_time(tmp_path: Path) -> None:
    (tmp_path / "algo").mkdir()
    path = tmp_path / "algo" / "mine.yaml"
    for C in (5, 17):
        path.write_text(f"defaults: [svm, override /kernel@_global_.kernel: product]\nC: {C}\n")
        config = configs.config_of(["algo=mine"], tmp_path)
        assert (config.algo["C"], config.kernel["name"]) == (C, "product")


def searches(*arguments: str) -> list[tuple[str, list[str]]]:
    """Return the name of the search of each job, and what it tries."""
    jobs = configs.jobs_of(["data=twonorm", *arguments])
    found = [configs.run_config(job.config, job.overrides).search for job in jobs]
    return [(search.name, list(search.grid)) for search in found]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["algo=qnpkl"], [("iterations", ["algo.C", "algo.iterations"])]),
        (["algo=qnpkl", "++algo.C=2"], [("iterations", ["algo.iterations"])]),
        (["algo=qnpkl", "algo.C=2", "algo.iterations=1"], [("fixed", [])]),
        (
            ["-m", "algo=qnpkl,svm", "algo.C=3"],
            [("iterations", ["algo.iterations"]), ("fixed", [])],
        ),
    ],
)
def test_what_is_set_is_not_searched(
    arguments: list[str], expected: list[tuple[str, list[str]]]
) -> None:
    assert searches(*arguments) == expected


@pytest.mark.parametrize("asked", ["search=cv", "search.grid.algo.C=[1,2]"])
def test_what_is_set_and_searched_as_well_is_refused(asked: str) -> None:
    with pytest.raises(InputError, match=r"as search=.* chooses it: leave it out"):
        searches("algo=qnpkl", "algo.C=2", asked)


def test_a_search_of_what_an_algorithm_does_not_have_is_refused_with_its_name() -> None:
    with pytest.raises(InputError, match=r"search=cv tries algo\.C: .* choose one of .*algo\.lam"):
        searches("algo=easymkl", "search=cv")


def test_former_names_of_options_are_taken_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"algo\.look=3 is written algo\.n_round_ascents=3 now"):
        config = configs.compose(["algo=ikl", "algo.look=3"])
    assert config.algo.n_round_ascents == 3


def test_a_sweeper_in_a_file_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    sweep = {"hydra": {"sweeper": {"params": {"algo.C": "1,10,100"}}}}
    (tmp_path / "experiment" / "sizes.yaml").write_text(
        f"# @package _global_\n{json.dumps(sweep)}\n"
    )
    arguments = ["-m", "algo=svm", "+experiment=sizes", "--config-dir", str(tmp_path)]
    assert [job.config.algo.C for job in configs.jobs_of(arguments)] == [1, 10, 100]
