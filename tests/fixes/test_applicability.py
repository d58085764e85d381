"""What every fix rests on besides: torch is its own, nobody sees a new frame, no f-string prints the code."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability, Fix
from torchlint.fact import CERTAIN, Fact, refuted, unknown
from torchlint.fixes.changes import decorate, fix, insert_last, replace
from torchlint.fixes.code import expression, statement
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

HEADER = "import sys\nimport torch\n\n\n"
PATCHED = "torch.Tensor.detach = counted\n"
FRAMES = "sys._getframe(1)\n"


def model_of(text: str) -> Model:
    source = Source(HEADER + text)
    return Model(source, Semantics(source.tree), Suppressions(source))


def replaced(text: str, rests_on: Fact = CERTAIN) -> Fix:
    """The fix that puts ``new`` in the place of the one call of ``here`` in a text."""
    model = model_of(text)
    [call] = model.semantics.facts.calls["here"]
    made = Editing(model).fix(fix("Change it", replace(model.concrete(call), expression("new()")), rests_on=rests_on))
    assert made is not None
    return made


def decorated(text: str) -> Fix:
    """The fix that decorates the first function of a text, and ends it with a new statement."""
    model = model_of(text)
    function = model.concrete(model.semantics.tree.of_type(*FUNCTIONS)[0])
    changes = [decorate(function, expression("{torch.no_grad}()")), insert_last(function, statement("new()"))]
    made = Editing(model).fix(fix("Change it", *changes, rests_on=CERTAIN))
    assert made is not None
    return made


@pytest.mark.parametrize(
    "text",
    [
        "here()\n",
        "torch.backends.cudnn.benchmark = True\nhere()\n",
        "print(f'{here()}', f'{a=}')\n",
        FRAMES + "here()\n",
    ],
)
def test_a_fix_that_rests_on_what_is_certain_is_safe(text: str) -> None:
    made = replaced(text)
    assert (made.applicability, made.reason) == (Applicability.SAFE, "")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (PATCHED + "here()\n", "`torch.Tensor.detach` may put something else in torch's place"),
        ("here()\nsetattr(torch, 'zeros', own)\n", "`setattr(torch, 'zeros', own)` may put something else in torch's place"),
        ("print(f'{here()=}')\n", "the f-string prints this code as it is written"),
        (PATCHED + "print(f'{here()=}')\n", "the f-string prints this code as it is written"),
    ],
)
def test_it_is_unsafe_where_the_file_takes_notice(text: str, doubt: str) -> None:
    made = replaced(text)
    assert (made.applicability, made.reason) == (Applicability.UNSAFE, doubt)


@pytest.mark.parametrize("rests_on", [unknown("`x` may be no tensor"), refuted("`x` may be no tensor")])
@pytest.mark.parametrize("before", ["", PATCHED])
def test_what_the_rule_doubts_is_said_first(before: str, rests_on: Fact) -> None:
    made = replaced(before + "here()\n", rests_on)
    assert (made.applicability, made.reason) == (Applicability.UNSAFE, "`x` may be no tensor")


def test_frames_matter_to_decorators_alone() -> None:
    assert decorated("def f():\n    a()\n").applicability is Applicability.SAFE
    made = decorated(FRAMES + "def f():\n    a()\n")
    assert (made.applicability, made.reason) == (
        Applicability.UNSAFE,
        "`_getframe` may see the frame that the decorator adds",
    )
    made = decorated(FRAMES + PATCHED + "def f():\n    a()\n")
    assert made.reason == "`torch.Tensor.detach` may put something else in torch's place"


def test_one_fix_is_made_once() -> None:
    model = model_of("here()\n")
    [call] = model.semantics.facts.calls["here"]
    wanted = fix("Change it", replace(model.concrete(call), expression("new()")), rests_on=CERTAIN)
    editing = Editing(model)
    assert editing.fix(wanted) is editing.fix(wanted)
