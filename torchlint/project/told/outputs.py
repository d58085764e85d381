"""What the modules of a file give, by that file alone: logits, probabilities, or their logarithms."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.project.told.by_file import ToldByFile
from torchlint.text.headroom import recursion_headroom

if TYPE_CHECKING:
    from torchlint.semantics.summaries.summary import ClassOutput

_PATHS: tuple[tuple[int, ...], ...] = ((), (0,), (1,))
"""What of a module's results is looked at: all of it, or the first parts of a tuple."""
_WORDS = (b"softmax", b"Softmax", b"igmoid", b"expit", b"Linear", b"Conv")
"""A file that holds none of these has no module of which it is known what it gives."""

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Outputs(ToldByFile["tuple[ClassOutput, ...]"]):
    """Tells what calling the modules of files gives."""

    most_kept = 4_000

    def look_for(self, file: str, names: tuple[str, ...]) -> tuple[ClassOutput, ...]:
        """What all modules of a file give."""
        try:
            data = self.read(file, _LARGEST)
        except (OSError, ValueError):
            return ()
        if not may_have_outputs(data):
            return ()
        from torchlint.semantics.summaries.summary import ClassOutput

        return self.kept("outputs", tuple[ClassOutput, ...], "", data, lambda: outputs_of(data))


def outputs_of(data: bytes) -> tuple[ClassOutput, ...]:
    """What calling the modules that a file defines gives, as far as it is known."""
    if not may_have_outputs(data):
        return ()
    try:
        with recursion_headroom(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuple(_outputs(ast.parse(data)))
    except _UNREADABLE:
        return ()


def may_have_outputs(data: bytes) -> bool:
    """Whether the words of a text let it define a module of which it is known what it gives."""
    return b"forward" in data and any(word in data for word in _WORDS)


def _outputs(module: ast.Module) -> Iterator[ClassOutput]:
    from torchlint.semantics import Semantics
    from torchlint.semantics.scores.activations import Activations
    from torchlint.semantics.summaries.summary import ClassOutput

    semantics = Semantics(module)
    activations = semantics.of(Activations)
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            for path in _PATHS:
                origin = activations.given_by_class(node, path)
                if origin is not None and origin.unique:
                    yield ClassOutput(node.name, path, origin.output.value, origin.node.lineno)
