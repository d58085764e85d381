"""Whose method a method of the file runs: the full name, and how many arguments go before its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from marked import marked
from torchlint.api import lint
from torchlint.semantics.apis.deprecated_arguments import DeprecatedArguments
from torchlint.semantics.inheritance.inherited_methods import InheritedMethods

HEAD = """
import abc
import torch
from typing import Generic, TypeVar
from torch.utils.data import RandomSampler, Sampler
from torch.utils.data.sampler import Sampler as Base
T = TypeVar("T")
{before}
class Pairs({bases}):
    def __init__(self, data_source, *more):
        «{call}»
{behind}
"""
SAMPLER = "torch.utils.data.Sampler"


def constructor(
    call: str = "super().__init__(1)", bases: str = "Sampler", before: str = "", behind: str = ""
) -> tuple[str, int]:
    semantics, (node,) = marked(HEAD.format(call=call, bases=bases, before=before, behind=behind))
    assert isinstance(node, ast.Call)
    return semantics.of(InheritedMethods).of(node)


@pytest.mark.parametrize(
    ("call", "bases", "before", "expected"),
    [
        ("super().__init__(1)", "Sampler", "", (SAMPLER, 0)),
        ("super().__init__(1)", "Base", "", (SAMPLER, 0)),
        ("super().__init__(1)", "torch.utils.data.sampler.Sampler", "", (SAMPLER, 0)),
        ("super().__init__(1)", "torch.utils.data.Sampler", "import torch.utils.data.dataset", (SAMPLER, 0)),
        ("super().__init__(1)", "Sampler[int]", "", (SAMPLER, 0)),
        ("super().__init__(1)", "Sampler, Generic[T], abc.ABC, object", "", (SAMPLER, 0)),
        ("super(Pairs, self).__init__(1)", "Sampler", "", (SAMPLER, 0)),
        ("super(self.__class__, self).__init__(1)", "Sampler", "", (SAMPLER, 0)),
        ("super(type(self), self).__init__(1)", "Sampler", "", (SAMPLER, 0)),
        ("Sampler.__init__(self, 1)", "Sampler", "", (SAMPLER, 1)),
        ("torch.utils.data.Sampler.__init__(self, 1)", "Sampler", "", (SAMPLER, 1)),
        ("super().__init__(1)", "Own", "class Own(Sampler):\n    n = 3", (SAMPLER, 0)),
        ("Own.__init__(self, 1)", "Own", "class Own(Sampler):\n    n = 3", (SAMPLER, 1)),
        ("super().__init__(1)", "RandomSampler", "", ("torch.utils.data.RandomSampler", 0)),
    ],
)
def test_whose_it_is(call: str, bases: str, before: str, expected: tuple[str, int]) -> None:
    assert constructor(call, bases, before) == expected


@pytest.mark.parametrize(
    ("call", "bases", "before", "behind"),
    [
        ("super().__init__(1)", "Sampler, RandomSampler", "", ""),
        ("super().__init__(1)", "Sampler, dict", "", ""),
        ("super().__init__(1)", "Sampler", "", "class Both(Pairs, dict):\n    pass"),
        ("super().__init__(1)", "Sampler", "class Sampler:\n    pass", ""),
        ("super().__init__(1)", "Sampler", "Sampler = make()", ""),
        (
            "super().__init__(1)",
            "Sampler",
            "try:\n    from torch.utils.data import Sampler\nexcept Exception: from o import Sampler",
            "",
        ),
        ("super().__init__(1)", "Own", "class Own(Sampler):\n    def __init__(self, n):\n        pass", ""),
        ("super().__init__(1)", "Own", "class Own(Sampler):\n    __init__ = made", ""),
        ("super().__init__(1)", "Own", "@dataclass\nclass Own(Sampler):\n    n: int", ""),
        ("super().__init__(1)", "Own", "class Own(Sampler, metaclass=Meta):\n    n: int", ""),
        ("super().__init__(1)", "Own", "class Own(Own):\n    n = 3", ""),
        ("super().__init__(1)", "Own", "class Own(Sampler):\n    n = 3\nOwn.__init__ = init", ""),
        ("super().__init__(1)", "Own", "class Own(Sampler):\n    n = 3\nsetattr(Own, '__init__', init)", ""),
        ("super().__init__(1)", "Sampler", "Sampler.__init__ = init", ""),
        ("super().__init__(1)", "Sampler", "", "mock.patch.object(Sampler, '__init__', init)"),
        ("super().__init__(1)", "Sampler", "", "mock.patch('torch.utils.data.Sampler.__init__', init)"),
        ("super(Own, self).__init__(1)", "Own", "class Own(Sampler):\n    n = 3", ""),
        ("super(Pairs, more).__init__(1)", "Sampler", "", ""),
        ("Sampler.__init__(more, 1)", "Sampler", "", ""),
        ("Sampler.__init__(self, 1)", "RandomSampler", "", ""),
        ("other.__init__(self, 1)", "Sampler", "", ""),
        ("super().__init__(1)", "", "", ""),
        ("(lambda: super().__init__(1))()", "Sampler", "", ""),
    ],
)
def test_not_known(call: str, bases: str, before: str, behind: str) -> None:
    assert constructor(call, bases, before, behind) == ("", 0)


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        ("super().__init__(data_source)", True),
        ("super().__init__(None)", True),
        ("super().__init__(data_source=None)", True),
        ("Sampler.__init__(self, data_source)", True),
        ("super().__init__()", False),
        ("Sampler.__init__(self)", False),
        ("super().__init__(*more)", False),
        ("super().__init__(**more)", False),
    ],
)
def test_what_a_sampler_is_given(call: str, is_found: bool) -> None:
    semantics, (node,) = marked(HEAD.format(call=call, bases="Sampler", before="", behind=""))
    assert (node in semantics.of(DeprecatedArguments).found) is is_found


def test_an_error_that_is_awaited() -> None:
    call = "with pytest.raises(TypeError):\n            «super().__init__(data_source)»"
    text = HEAD.replace("«{call}»", call).format(bases="Sampler", before="import pytest", behind="")
    semantics, (node,) = marked(text)
    assert node not in semantics.of(DeprecatedArguments).found


@pytest.mark.parametrize(("bases", "is_found"), [("Own", True), ("Own, Store", False)])
def test_a_class_between_in_another_file(tmp_path: Path, bases: str, is_found: bool) -> None:
    text = (
        "from torch.utils.data import Sampler\n\nclass Own(Sampler):\n    def __init__(self, d):\n        super().__init__(d)\n"
    )
    (tmp_path / "own.py").write_text(text)
    (tmp_path / "sub.py").write_text(f"from own import Own\nclass Store:\n    pass\nclass Both({bases}):\n    pass\n")
    found = lint(text, filename=str(tmp_path / "own.py"), select=["TPL109"], project_root=str(tmp_path))
    assert bool(found) is is_found


@pytest.mark.parametrize(
    ("given", "is_fixed"),
    [("d", True), ("self.d[0]", True), ("load(d)", False), ("(e := d)", False), ("[x async for x in await d]", False)],
)
def test_what_a_fix_leaves_out(given: str, is_fixed: bool) -> None:
    text = "from torch.utils.data import Sampler\nclass Own(Sampler):\n    def __init__(self, d):\n"
    text += f"        super().__init__({given})\n"
    (found,) = lint(text, select=["TPL109"])
    assert (found.fix is not None) is is_fixed
