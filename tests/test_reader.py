"""The reader of configs: dataclasses from plain mappings, by type hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import pytest

from mklbench.errors import InputError
from mklbench.reader import Made, Rule, Where, flag, read


def whole(found: Any, where: Where) -> int:
    if not isinstance(found, int):
        raise InputError(f"{where}={found!r} is not whole.")
    return found


def even(found: Any, where: Where) -> int:
    if whole(found, where) % 2:
        raise InputError(f"{where}={found} is odd.")
    return int(found)


class Place(Where):
    rules: ClassVar[Mapping[Any, Rule]] = {
        int: whole,
        float: lambda found, where: float(found),
        str: lambda found, where: str(found),
        bool: flag,
    }

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass
class Leaf:
    name: str
    size: Annotated[int, even] = 2


@dataclass
class Tree:
    height: float | None = None
    colour: Literal["green", "red"] = "green"
    leaves: tuple[Leaf, ...] = ()
    best: Leaf | None = None
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    anything: Any = None


def tree(**content: Any) -> Tree:
    return read(Tree, content, Place(("tree",)))


def test_a_key_left_out_takes_its_default() -> None:
    assert tree() == Tree()


def test_nested_dataclasses_lists_and_mappings() -> None:
    made = tree(
        height=3,
        leaves=[{"name": "a"}, {"name": "b", "size": 4}],
        best={"name": "c"},
        by_name={1: {"name": "d"}},
        anything=[1],
    )
    assert made.leaves == (Leaf("a"), Leaf("b", 4))
    assert made.best == Leaf("c")
    assert made.by_name == {"1": Leaf("d")}
    assert isinstance(made.height, float)
    assert made.anything == [1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"colours": "red"}, "tree: key=colours is not known: did you mean colour."),
        ({"colour": "blue"}, "tree.colour=blue is not known: choose one of green, red."),
        ({"colour": ["red"]}, r"tree.colour=\['red'\] is not known: did you mean red."),
        ({"leaves": "a"}, "tree.leaves='a' must be a list."),
        ({"leaves": [{"name": "a"}, 3]}, r"tree.leaves\[1\]: expected a mapping, found 3."),
        ({"leaves": [{"name": "a", "size": 3}]}, r"tree.leaves\[0\].size=3 is odd."),
        ({"best": {"name": "c", "sise": 1}}, "tree.best: key=sise is not known: did you mean size"),
        ({"by_name": []}, r"tree.by_name: expected a mapping, found \[\]."),
        ({"by_name": {"x": {"name": "a", "size": 1}}}, "tree.by_name.x.size=1 is odd."),
    ],
)
def test_a_mistake_names_its_place(content: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tree(**content)


def test_what_has_no_default_is_read_as_none() -> None:
    @dataclass
    class Needed:
        size: Annotated[int, even]

    with pytest.raises(InputError, match="size=None is not whole"):
        read(Needed, {}, Place(("x",)))


def test_a_field_can_be_made_of_other_keys_and_of_the_fields_before() -> None:
    def size(content: Mapping[str, Any], where: Where, before: Mapping[str, Any]) -> int:
        return len(before["name"]) * int(content["width"])

    made = {"size": Made(size, ("width",))}
    assert read(Leaf, {"name": "abc", "width": 2}, Place(("leaf",)), made=made).size == 6
    with pytest.raises(InputError, match="key=size is not known"):
        read(Leaf, {"name": "abc", "width": 2, "size": 1}, Place(("leaf",)), made=made)


def test_a_field_without_keys_is_no_option() -> None:
    assert read(Leaf, {"name": "a"}, Place(("leaf",)), made={"size": Made()}).size == 2
    with pytest.raises(InputError, match="key=size is not known: choose one of name"):
        read(Leaf, {"name": "a", "size": 4}, Place(("leaf",)), made={"size": Made()})
