"""What is installed with the program may be used by one of BSD-3-Clause."""

from __future__ import annotations

import pytest
from licences import Licence, of_all_dependencies


def test_all_dependencies_allow_it() -> None:
    found = of_all_dependencies()
    assert {"numpy", "scipy", "libsvm-official", "omegaconf", "pyarrow"} <= {
        licence.package for licence in found
    }
    refused = [licence for licence in found if not licence.is_allowed]
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
    assert Licence("package", "1.0", "mklbench", said).is_allowed == allowed
