"""What a file reads of itself other than by the names in its code."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.observers.reflection import Reflection


def reflection(text: str) -> Reflection:
    """What is known of a file of this text."""
    return Semantics(ast.parse(text)).of(Reflection)


@pytest.mark.parametrize(
    "text",
    ["print(f(1))", "stack = torch.stack(rows)", "import inspect\ninspect.signature(f)", "vars(args)", "getattr(m, 'x')"],
)
def test_frames_and_variables_are_not_looked_at(text: str) -> None:
    assert reflection(text).sees_no_frames.is_certain
    assert reflection(text).reads_no_variables.is_certain
    assert reflection(text).asks_for_no_lives.is_certain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sys._getframe(1)", "_getframe"),
        ("import inspect\nprint(inspect.stack()[1])", "stack"),
        ("logging.info('x', stacklevel=2)", "stacklevel"),
        ("import traceback", "traceback"),
        ("error.__traceback__.tb_next", "__traceback__"),
        ("sys.settrace(f)", "settrace"),
    ],
)
def test_frames_are_looked_at(text: str, shown: str) -> None:
    assert reflection(text).sees_no_frames.doubt == f"`{shown}` may see the frame that the decorator adds"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("vars()['gate']", "vars"), ("locals()", "locals"), ("globals()[name]", "globals"), ("f.f_locals", "f_locals")],
)
def test_variables_are_read_by_name(text: str, shown: str) -> None:
    assert reflection(text).reads_no_variables.doubt == f"`{shown}` may read variables by their names"


@pytest.mark.parametrize("text", ["p.requires_grad", "getattr(p, 'x', None)", "hasattr(p, 'x')", "vars()", "{**d}"])
def test_attributes_are_read_by_code_alone(text: str) -> None:
    assert reflection(text).reads_no_attributes.is_certain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p.__dict__.get('x')", "__dict__"),
        ("vars(self).get('x')", "vars"),
        ("getattr(p, name)", "getattr"),
        ("hasattr(p, name)", "hasattr"),
        ("dir(p)", "dir"),
    ],
)
def test_attributes_are_read_by_name(text: str, shown: str) -> None:
    assert reflection(text).reads_no_attributes.doubt == f"`{shown}` may read attributes by their names"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("weakref.ref(x)", "weakref"), ("def __del__(self): pass", "__del__"), ("import gc", "gc"), ("d[id(x)] = 1", "id")],
)
def test_lives_are_asked_for(text: str, shown: str) -> None:
    assert reflection(text).asks_for_no_lives.doubt == f"`{shown}` may notice that the object does not live as long"
