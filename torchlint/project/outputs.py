"""What the modules of a file give, by that file alone: logits, probabilities, or their logarithms."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.project.callers import digest
from torchlint.project.origins import is_settled
from torchlint.text.headroom import recursion_headroom
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.semantics.summaries.summary import ClassOutput

_PATHS: tuple[tuple[int, ...], ...] = ((), (0,), (1,))
"""What of a module's results is looked at: all of it, or the first parts of a tuple."""
_WORDS = (b"softmax", b"Softmax", b"igmoid", b"expit", b"Linear", b"Conv")
"""A file that holds none of these has no module of which it is known what it gives."""

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_MOST_KEPT = 4_000


class Outputs:
    """Looks into the ``texts`` of files, or else into those on disk; ``state`` is what the file system says of a file."""

    def __init__(self, texts: Mapping[str, bytes], state: Callable[[str], str | None], store: Store | None) -> None:
        self._texts = texts
        self._state = state
        self._store = store
        self._known: dict[str, tuple[str, tuple[ClassOutput, ...]]] = {}
        """What the modules of files give, each behind the state of the file that it was found for."""

    def of(self, file: str) -> tuple[tuple[ClassOutput, ...], str]:
        """What the modules of a file give, and a text that stands for that."""
        state = self._state(file)
        found = self._known.get(file)
        if found is None or state is None or found[0] != state:
            try:
                given = self._found(self._texts.get(file) or read_file(file, _LARGEST))
            except (OSError, ValueError):
                given = ()
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[file] = (state or "", given)
        return found[1], f"={digest(repr(found[1]))}" + (f":{found[0]}" if is_settled(found[0]) else "")

    def are_as(self, file: str, stamp: str) -> bool:
        """Whether the modules of a file still give what they did when it was given a ``stamp``."""
        told, _, state = stamp.partition(":")
        return (bool(state) and self._state(file) == state) or self.of(file)[1].partition(":")[0] == told

    def _found(self, data: bytes) -> tuple[ClassOutput, ...]:
        if self._store is None or not may_have_outputs(data):
            return outputs_of(data)
        from torchlint.semantics.summaries.summary import ClassOutput

        return self._store.kept("outputs", tuple[ClassOutput, ...], data, lambda: outputs_of(data))


def outputs_of(data: bytes) -> tuple[ClassOutput, ...]:
    """What calling the modules that a file defines gives, as far as it is known."""
    if not may_have_outputs(data):
        return ()
    try:
        with recursion_headroom(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuple(_outputs(ast.parse(data)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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
