"""Whether an error ends the program, and what in the file may await it."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.observers.free_errors import FreeErrors

HEADER = """\
import contextlib
import functools
import json
import os
import torch
from helpers import retried


"""
FUNCTION = "def flat(x):\n    return «x.view(-1)»\n\n\n"
AWAITED = "the code awaits the error, and may decide by it"
ELSEWHERE = "the code awaits errors, and may decide by this one"


def fact(text: str, instead: str = "") -> Fact:
    """Whether the error of the marked expression ends the program."""
    semantics, [node] = marked(HEADER + text)
    return semantics.of(FreeErrors).of(node, instead)


@pytest.mark.parametrize(
    "text",
    [
        "«x.view(-1)»",
        FUNCTION,
        "with torch.no_grad():\n    «x.view(-1)»",
        "try:\n    f()\nexcept Exception:\n    pass\n«x.view(-1)»",
        FUNCTION + "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
        FUNCTION + "try:\n    train()\nexcept KeyboardInterrupt:\n    save()",
        FUNCTION + "try:\n    flat(y)\nexcept (OSError, KeyError):\n    pass",
        FUNCTION + "try:\n    flat(y)\nexcept json.JSONDecodeError:\n    pass",
        FUNCTION + "try:\n    os.makedirs(path)\nexcept Exception:\n    pass",
        FUNCTION + "try:\n    flat(y)\nexcept RuntimeError:\n    raise",
        FUNCTION + "try:\n    flat(y)\nfinally:\n    close()",
        FUNCTION + "class Timer:\n    def __exit__(self, *error):\n        self.stop()\n        return False",
        "@torch.no_grad()\n" + FUNCTION,
        "class Net:\n    @property\n    @functools.lru_cache(None)\n    def flat(self):\n        return «self.x.view(-1)»",
        "def counted(function):\n    return function\n\n\n@counted\n" + FUNCTION,
        "with contextlib.ExitStack() as stack:\n    stack.callback(print)\n    «x.view(-1)»",
        "replay.push(y)\n«x.view(-1)»",
    ],
)
def test_the_error_ends_the_program(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("try:\n    «x.view(-1)»\nexcept RuntimeError:\n    pass", AWAITED),
        ("with contextlib.suppress(RuntimeError):\n    «x.view(-1)»", AWAITED),
        (FUNCTION + "try:\n    flat(y)\nexcept RuntimeError:\n    pass", ELSEWHERE),
        (FUNCTION + "try:\n    flat(y)\nexcept:\n    pass", ELSEWHERE),
        (FUNCTION + "try:\n    flat(y)\nexcept (OSError, Exception):\n    pass", ELSEWHERE),
        (FUNCTION + "try:\n    y = self.flat[0]\nexcept RuntimeError:\n    pass", ELSEWHERE),
        (FUNCTION + "def g():\n    try:\n        flat(y)\n    finally:\n        return 1", ELSEWHERE),
        (
            FUNCTION + "@contextlib.contextmanager\ndef g():\n    try:\n        yield\n    except RuntimeError:\n        pass",
            ELSEWHERE,
        ),
        (
            FUNCTION + "class Guard:\n    def __exit__(self, *error):\n        return True",
            "a context manager of the file may swallow the error",
        ),
        (
            FUNCTION + "class Guard:\n    def __exit__(self, kind, *rest):\n        return kind is RuntimeError",
            "a context manager of the file may swallow the error",
        ),
        (
            "class Guard:\n    def __exit__(self, *error):\n        return True\n\n\nwith Guard():\n    «x.view(-1)»",
            "a context manager of the file may swallow the error",
        ),
        (FUNCTION + "self.assertRaises(RuntimeError, flat, y)", f"{ELSEWHERE}: `assertRaises`"),
        (FUNCTION + "sys.excepthook = report", f"{ELSEWHERE}: `excepthook`"),
        (FUNCTION + "future.set_exception(error)", f"{ELSEWHERE}: `set_exception`"),
        (FUNCTION + "threading.Thread(target=flat).start()", f"{ELSEWHERE}: `Thread`"),
        (
            "with contextlib.ExitStack() as stack:\n    stack.push(done)\n    «x.view(-1)»",
            "an exit callback of an `ExitStack` may swallow the error",
        ),
        (
            FUNCTION + "with contextlib.ExitStack() as stack:\n    stack.push(done)",
            "an exit callback of an `ExitStack` may swallow the error",
        ),
        (
            "@contextlib.contextmanager\ndef g():\n    try:\n        yield\n    except RuntimeError:\n        pass\n\n\n"
            "with g():\n    «x.view(-1)»",
            ELSEWHERE,
        ),
        ("@retried\n" + FUNCTION, "`retried` may await the error"),
        ("@retried(3)\n" + FUNCTION, "`retried(3)` may await the error"),
    ],
)
def test_somebody_may_await_the_error(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt


def test_a_handler_that_does_what_the_fix_does() -> None:
    text = "try:\n    total += «loss.data[0]»\nexcept IndexError:\n    total += {}"
    assert fact(text.format("loss.item()"), "loss.item()").is_certain
    assert fact(text.format("1"), "loss.item()").doubt == AWAITED
    assert fact(text.format("loss.item()")).doubt == AWAITED
