"""Whether a context, a decorator or the file may turn autograd off."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modes.ruled_gradients import RuledGradients


@pytest.mark.parametrize(
    "snippet",
    [
        "with no_gradients(): «f()»",
        "@inference\ndef g():\n    «f()»",
        "torch.set_grad_enabled(flag)\n«f()»",
        "torch.set_grad_enabled(False) if frozen else torch.set_grad_enabled(True)\n«f()»",
        "frozen and torch.set_grad_enabled(False)\n«f()»",
        "context = torch.enable_grad() if train else torch.no_grad()\nwith context: «f()»",
        "context = contextlib.nullcontext if train else torch.no_grad\nwith context(): «f()»",
        "if train:\n    context = contextlib.nullcontext()\nelse:\n    context = torch.no_grad()\nwith context: «f()»",
        "mode = torch.no_grad\nalso = mode\nwith also(): «f()»",
        "def g(context):\n    with context: «f()»",
        "def frozen(model):\n    with torch.no_grad():\n        yield\nwith frozen(model): «f()»",
        "class Quiet:\n    def __enter__(self): torch._C._set_grad_enabled(False)\nwith Quiet(): «f()»",
        "self.context = torch.no_grad()\nwith self.context: «f()»",
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n    «f()»",
        "def quiet(f):\n    return torch.no_grad()(f)\n@quiet\ndef g():\n    «f()»",
    ],
)
def test_what_may_turn_autograd_off(snippet: str) -> None:
    meaning, (call,) = marked("import contextlib\nimport torch\n" + snippet)
    assert meaning.of(RuledGradients).are_ruled_at(call)


@pytest.mark.parametrize(
    "snippet",
    [
        "with torch.autograd.profiler.profile(): «f()»",
        "with open(path): «f()»",
        "with torch.set_grad_enabled(False) if frozen else torch.set_grad_enabled(True): pass\n«f()»",
        "context = torch.autocast('cuda') if half else contextlib.nullcontext()\nwith context: «f()»",
        "lock = threading.Lock()\nwith lock: «f()»",
        "def timed(name):\n    yield\nwith timed('epoch'): «f()»",
        "context = torch.no_grad()\nwith open(path): «f()»",
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(open(path))\n    «f()»",
        "«f()»",
    ],
)
def test_what_leaves_autograd_on(snippet: str) -> None:
    meaning, (call,) = marked("import contextlib\nimport torch\n" + snippet)
    assert not meaning.of(RuledGradients).are_ruled_at(call)
