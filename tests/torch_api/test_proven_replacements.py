"""What the table replaces and by what, side by side: the programs of the recipes are run as they are and as they are fixed."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import torchlint
from torchlint.semantics.apis.deprecations import Deprecation, deprecations

sys.path.insert(0, str(Path(__file__).parent))

from replacement_recipes import NOT_RUN, PRELUDE, RAISING, RECIPES

CODES = ["TPL106", "TPL108", "TPL111"]


def key(row: Deprecation) -> str:
    return f"{row.symbol} {row.parameter}".strip()


REPLACED = {key(row): row for row in deprecations().values() if row.replacement and not row.removed and row.library == "torch"}
"""What the installed torch has, and has something else for."""
ELSEWHERE = [row for row in deprecations().values() if row.replacement and (row.removed or row.library != "torch")]
"""What has been removed, and what belongs to libraries that are not installed: the old call cannot be made here."""
UNPROVEN = {
    "removed from torch: the installed one has no old call to compare with": 36,
    "of torchvision: `unpacked` runs them on its wheel": 285,
    "of torchaudio: `unpacked` runs them on its wheel": 18,
}
"""Why rows with a replacement are not run here, and of how many that is so."""


@pytest.fixture(scope="module")
def torch() -> Any:
    module: Any = pytest.importorskip("torch")
    if not module.__version__.startswith("2.13."):
        pytest.skip(f"the table is of torch 2.13, installed is {module.__version__}")
    module.set_warn_always(True)
    return module


def resolved(symbol: str) -> object:
    parts = symbol.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ImportError(symbol)


def recipe(name: str) -> str:
    """The name that the programs of a row stand under: its own, or another one of the same object."""
    if name in RECIPES or name in NOT_RUN:
        return name
    symbol, _, parameter = name.partition(" ")
    for other in (*RECIPES, *NOT_RUN):
        known, _, its = other.partition(" ")
        if its == parameter and known.rpartition(".")[2] == symbol.rpartition(".")[2] and resolved(known) is resolved(symbol):
            return other
    return ""


def program(name: str, text: str) -> str:
    symbol = name.partition(" ")[0]
    owner = symbol.rpartition(".")[0]
    lines = [f"import {owner}", PRELUDE] if owner.count(".") and not owner.rpartition(".")[2][:1].isupper() else [PRELUDE]
    return "\n".join([*lines, text.replace("OLD", symbol), ""])


def run(text: str) -> tuple[Any, list[str]]:
    """What a program made, or the error that it raised, and what it warned of."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            exec(compile(text, "<recipe>", "exec"), names)
        except Exception as error:
            return (type(error), str(error).partition("\n")[0]), [str(each.message) for each in found]
    return names["made"], [str(each.message) for each in found]


def same(torch: Any, old: Any, new: Any) -> bool:
    """Whether two results are of the same type and dtype, and have the same values."""
    if type(old) is not type(new):
        return False
    if isinstance(old, torch.Tensor):
        if old.layout != new.layout or old.dtype != new.dtype:
            return False
        return bool(torch.equal(old.to_dense(), new.to_dense())) if old.layout != torch.strided else bool(torch.equal(old, new))
    if isinstance(old, (tuple, list)):
        return len(old) == len(new) and all(same(torch, *pair) for pair in zip(old, new))
    return bool(old == new)


@pytest.mark.parametrize("name", REPLACED)
def test_old_and_new_agree_and_the_warning_is_gone(torch: Any, name: str) -> None:
    known = recipe(name)
    assert known, "write a program for it in replacement_recipes.py, or why none can be run"
    if known in NOT_RUN:
        return
    for text in RECIPES[known]:
        old_text = program(name, text)
        fixed = torchlint.fix(old_text, unsafe=True, select=CODES)
        subject = f"`{REPLACED[name].parameter}`" if REPLACED[name].parameter else ""
        assert fixed.text != old_text and not [each for each in fixed.remaining if subject in each.message], fixed.remaining
        (old, before), (new, after) = run(old_text), run(fixed.text)
        assert not (isinstance(old, tuple) and old and isinstance(old[0], type)), old
        assert same(torch, old, new), (old, new)
        gone = [each for each in before if each not in after]
        assert gone or not REPLACED[name].warns, before
        last = REPLACED[name].parameter or REPLACED[name].symbol.rpartition(".")[2]
        assert not [each for each in after if last in each and "deprecat" in each.lower()], after


@pytest.mark.parametrize("name", RAISING)
def test_what_raised_raises_the_same(torch: Any, name: str) -> None:
    old_text = program(name, RAISING[name])
    fixed = torchlint.fix(old_text, unsafe=True, select=CODES)
    assert fixed.text != old_text
    (old, _), (new, _) = run(old_text), run(fixed.text)
    assert isinstance(old, tuple) and issubclass(old[0], Exception), old
    assert old[0] is new[0]


def test_no_program_is_of_a_row_that_is_gone() -> None:
    assert {*RECIPES, *RAISING, *NOT_RUN} <= REPLACED.keys()


def test_what_is_not_run_is_counted_with_its_reason() -> None:
    """A new row that no program can prove is noticed here; rows of the installed torch are asked for a program above."""
    libraries = Counter(row.library for row in ELSEWHERE)
    assert libraries == dict(zip(("torch", "torchvision", "torchaudio"), UNPROVEN.values(), strict=True))
    assert all(row.removed for row in ELSEWHERE if row.library == "torch")
    assert all(NOT_RUN.values()) and not NOT_RUN.keys() & {*RECIPES, *RAISING}
