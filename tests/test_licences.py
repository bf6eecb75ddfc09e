"""What is installed with the program may be used by one of BSD-3-Clause."""

from __future__ import annotations

import pytest
from licences import is_allowed, of_all_dependencies


def test_all_dependencies_allow_it() -> None:
    found = of_all_dependencies()
    assert {"numpy", "scipy", "libsvm-official", "omegaconf", "pyarrow"} <= set(found)
    refused = {name: said for name, said in found.items() if not is_allowed(said)}
    assert not refused, "read their licences, and allow them in tests/support/licences.py or not"


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        (("BSD-3-Clause",), True),
        (("BSD License", "Apache Software License"), True),
        (("3-Clause BSD License",), True),
        (("GNU General Public License v3 (GPLv3)",), False),
        (("MIT", "GPL-2.0-only"), False),
        (("AGPL-3.0-or-later",), False),
        (("Proprietary",), False),
        ((), False),
    ],
)
def test_others_do_not(said: tuple[str, ...], allowed: bool) -> None:
    assert is_allowed(said) == allowed
