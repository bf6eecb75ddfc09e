"""Every config composes and is instantiated; what cannot be used is said in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiment_fakes import fake_configs

from mklbench import config as configs
from mklbench import resources
from mklbench.data.schema import parse_config
from mklbench.errors import InputError
from mklbench.kernels.contract import builder_of
from mklbench.solution import Solution


def choices(group: str) -> list[str]:
    return list(resources.choices(group))


def compose(*overrides: str) -> configs.RunConfig:
    return configs.config_of(
        overrides
    )  # which tests/config/test_composition.py compares with Hydra


def toy_problem() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 12)
    return generator.normal(size=(24, 3)) + y[:, None], y


def test_the_default_run_is_complete() -> None:
    config = compose()
    assert [config.algo["name"], config.data["name"]] == ["qnpkl", "wdbc"]


@pytest.mark.parametrize("name", choices("algo"))
def test_every_algorithm_solves_with_the_kernel_it_chooses(name: str) -> None:
    quick = ["algo.n_global_ascents=0", "algo.max_iter=2"] if name == "ikl" else []
    config = compose(f"algo={name}", *quick)
    X, y = toy_problem()
    solution = configs.algorithm(config.algo)(configs.kernel(config.kernel)(X), y)
    assert isinstance(solution, Solution)
    assert config.algo["title"]
    assert configs.declared(config.algo).version >= 1


@pytest.mark.parametrize("name", choices("kernel"))
def test_every_kernel_builds(name: str, tmp_path: Path) -> None:
    X = np.abs(toy_problem()[0])  # chi2 takes no values below 0
    overrides = ["algo=svm", f"kernel={name}"]
    argument = np.abs(X) if name == "chi2" else X  # histograms
    files = {"precomputed": "kernel.K='{}'", "distances": "kernel.files=['{}']"}
    files["grams"] = files["distances"]
    if name in files:
        np.save(tmp_path / "K.npy", (X @ X.T)[None] if name != "distances" else 1.0 - np.eye(24))
        overrides.append(files[name].format(tmp_path / "K.npy"))
        argument = np.arange(len(X))
    config = compose(*overrides)
    builder = configs.kernel(config.kernel)
    assert builder_of(builder).takes_rows == (name in files)
    operator = builder(argument)
    assert operator.gram(operator.uniform_weights()).shape == (24, 24)
    assert config.kernel["title"]


@pytest.mark.parametrize("name", choices("data"))
def test_every_data_config_is_accepted(name: str) -> None:
    config = dict(compose("algo=svm", f"data={name}").data)
    if "path" in config:  # one that needs to be told of a file
        config["path"] = "mine.csv"
    if "id" in config:
        config["id"] = 61
    assert parse_config(config).name == name
    assert config["title"]


@pytest.mark.parametrize("name", choices("split"))
def test_every_split_is_accepted(name: str) -> None:
    of_its_own = ["split.path=splits.json"] if name == "file" else []
    split = compose("algo=svm", "data=splice", f"split={name}", *of_its_own).split
    assert split.name == name
    assert split.title


@pytest.mark.parametrize("name", choices("search"))
def test_every_search_is_accepted(name: str) -> None:
    algo = {"ridge": "krr", "iterations": "qnpkl"}.get(name, "svm")  # that has what it searches
    search = compose(f"algo={algo}", f"search={name}").search
    assert search.name == name
    assert search.title


def test_a_set_of_views_chooses_its_kernel_before_the_algorithm_does() -> None:
    assert compose("algo=vskl", "data=mfeat").kernel["name"] == "descriptors"
    assert compose("algo=vskl", "data=mfeat", "kernel=views").kernel["name"] == "views"
    assert compose("algo=vskl", "data=sonar").kernel["name"] == "simplemkl"


def test_a_set_may_state_the_scaling_of_its_published_splits() -> None:
    assert compose("algo=vskl", "data=mfeat").split.scaling == "none"
    assert compose("algo=svm", "data=wav").split.scaling == "standard"


def test_the_command_line_wins_over_the_kernel_of_the_algorithm() -> None:
    assert compose("algo=qnpkl").kernel["name"] == "product"
    assert compose("algo=gmkl", "kernel=feature_gaussians").kernel["name"] == "feature_gaussians"


def test_a_data_set_may_choose_its_split_and_the_command_line_wins() -> None:
    published = compose("algo=svm", "data=splice").split
    sizes = [getattr(published, name) for name in ("n_train", "n_test", "n_splits")]
    assert (published.name, sizes) == ("published", [1000, 2175, 20])
    assert compose("algo=svm", "data=splice", "split.n_splits=3").split.n_splits == 3
    random = compose("algo=svm", "data=splice", "split=random70").split
    assert (random.test_fraction, random.n_train) == (0.3, None)
    assert compose("algo=svm", "data=sonar").split.name == "random70"


def test_a_grid_may_be_written_nested_or_dotted() -> None:
    nested = compose("algo=svm", "search=cv", "search.grid.algo.C=[1,2]")
    dotted = compose("algo=svm", "+search.grid={algo.svm_tol:[0.1]}")
    assert nested.search.grid == {"algo.C": [1, 2]}
    assert dotted.search.grid == {"algo.svm_tol": [0.1]}


def test_a_later_grid_wins_as_in_the_rows_of_a_table() -> None:
    general = ["search=first_splits", "+search.grid.kernel.gamma=[0.1,1.0]"]
    special = ["search.grid.algo.C=[7]", "+search.grid.kernel.gamma=[3.5]"]
    config = compose("algo=svm", *general, *special)
    assert config.search.grid == {"algo.C": [7], "kernel.gamma": [3.5]}
    assert config.search.splits == 5


def test_with_values_leaves_the_original_alone() -> None:
    config = compose("algo=svm", "algo.C=3")
    changed = config.with_values({"algo.C": 7, "kernel.gamma": 0.5})
    assert (changed.algo["C"], changed.kernel["gamma"]) == (7, 0.5)
    assert (config.algo["C"], config.kernel["gamma"]) == (3, None)


def test_user_configs_are_found_and_composed(tmp_path: Path) -> None:
    composed = configs.compose(["algo=fake", "algo.C=2"], fake_configs(tmp_path))
    assert configs.run_config(composed).algo["C"] == 2


BAD_OVERRIDES = [
    ("algo.svm_tl=1", "algo.svm_tl=1 is not known: did you mean algo.svm_tol, or write ++"),
    ("+algo.svm_tl=1", "algo.svm_tl=1 is not known: did you mean algo.svm_tol."),
    ("search=cv search.grid.algo.C={a:1}", "give a list of values to try"),
    ("kernel.gamma=[1]", "kernel.gamma=[1] is not accepted"),
]


@pytest.mark.parametrize(("override", "expected"), BAD_OVERRIDES)
def test_a_bad_override_is_one_sentence(override: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        compose("algo=svm", *override.split(" "))
    message = str(caught.value)
    assert expected in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("~executor", "executor is no config, but every run needs one: choose executor=NAME."),
        ("++executor._target_=os.getcwd", "executor=local cannot be used: "),
        ("++executor._target_=os.nothing", "executor._target_=os.nothing cannot be used: "),
    ],
)
def test_an_executor_that_cannot_be_used_is_said(override: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        configs.executor(configs.run_options(configs.compose([override])).executor, 1, None)


def test_the_executor_is_no_part_of_a_run() -> None:
    composed = configs.compose(["algo=svm"])
    assert set(configs.run_config(composed).as_dict()) == set(configs.GROUPS)
    options = configs.run_options(composed)
    assert configs.executor(options.executor, 1, None).at_once == 1
    assert configs.executor(options.executor, 3, None).at_once == 3
