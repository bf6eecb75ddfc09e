"""What is set by hand is used, and the rest of the search that comes with an algorithm is done."""

from __future__ import annotations

import pytest

from mklbench.commands.run import composed_cells
from mklbench.config import cell_config
from mklbench.errors import InputError


def searches(*arguments: str) -> list[tuple[str, dict[str, list[float]]]]:
    """Return the name of the search of each cell, and its grid."""
    sweeping = arguments[0] == "-m" if arguments else False
    cells = composed_cells(["data=twonorm", *arguments[sweeping:]], sweeping=sweeping)
    configs = [cell_config(one)["search"] for one in cells]
    return [(search["name"], search["grid"]) for search in configs]


def test_nothing_set_everything_searched() -> None:
    ((name, grid),) = searches("algo=qnpkl")
    assert (name, list(grid)) == ("iterations", ["algo.C", "algo.iterations"])


@pytest.mark.parametrize("override", ["algo.C=2", "++algo.C=2"])
def test_what_is_set_is_not_searched(override: str) -> None:
    ((name, grid),) = searches("algo=qnpkl", override)
    assert (name, list(grid)) == ("iterations", ["algo.iterations"])


def test_all_set_is_no_search() -> None:
    assert searches("algo=qnpkl", "algo.C=2", "algo.iterations=1") == [("fixed", {})]


def test_each_cell_of_a_sweep_by_itself() -> None:
    of_qnpkl, of_svm = searches("-m", "algo=qnpkl,svm", "algo.C=3")
    assert of_qnpkl[0] == "iterations"
    assert of_svm == ("fixed", {})


@pytest.mark.parametrize("asked", ["search=cv", "search.grid.algo.C=[1,2]"])
def test_what_is_set_and_searched_as_well_is_refused(asked: str) -> None:
    with pytest.raises(
        InputError, match=r"as search=.* chooses it: leave it out, set search=fixed"
    ):
        searches("algo=qnpkl", "algo.C=2", asked)


def test_other_options_do_not_matter() -> None:
    ((_, grid),) = searches("algo=qnpkl", "algo.tol=0.1", "search.folds=3")
    assert list(grid) == ["algo.C", "algo.iterations"]
