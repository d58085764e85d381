"""What things of a file give, by that file alone: modules, as logits or probabilities; functions, methods and attributes."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from torchlint.project.origins import ToldByFile
from torchlint.text.headroom import recursion_headroom

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.semantics import Semantics
    from torchlint.semantics.summaries.summary import ClassOutput, Given

_PATHS: tuple[tuple[int, ...], ...] = ((), (0,), (1,))
"""What of a module's results is looked at: all of it, or the first parts of a tuple."""
_WORDS = (b"softmax", b"Softmax", b"igmoid", b"expit", b"Linear", b"Conv")
"""A file that holds none of these has no module of which it is known what it gives."""

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_LARGEST_READ = 500_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_MOST_AT_HAND = 300_000
"""Of so many bytes of text the semantics are kept, which take some three hundred times as much."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Outputs(ToldByFile["tuple[ClassOutput, ...]"]):
    """Tells what calling the modules of files gives."""

    most_kept = 4_000

    def __init__(self, texts: Mapping[str, bytes], state: Callable[[str], str | None], store: Store | None) -> None:
        super().__init__(texts, state)
        self._store = store

    def look_for(self, file: str, names: tuple[str, ...]) -> tuple[ClassOutput, ...]:
        """What all modules of a file give."""
        try:
            data = self.read(file, _LARGEST)
        except (OSError, ValueError):
            return ()
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


class Givens(ToldByFile["Given"]):
    """Tells what a function of a file gives, or a method or attribute, ``Class.name``."""

    def __init__(self, texts: Mapping[str, bytes], state: Callable[[str], str | None], store: Store | None) -> None:
        super().__init__(texts, state)
        self._store = store
        self._at_hand: dict[bytes, Semantics | None] = {}

    def look_for(self, file: str, names: tuple[str, ...]) -> Given:
        """What the one thing that is named gives."""
        from torchlint.semantics.summaries.summary import Given

        (name,) = names
        try:
            data = self.read(file, _LARGEST_READ)
        except (OSError, ValueError):
            return Given()
        if b"torch" not in data or len(data) > _LARGEST_READ or name.rpartition(".")[2].removesuffix("()").encode() not in data:
            return Given()
        if self._store is None:
            return self._looked_for(data, name)
        key = name.encode("utf-8", "surrogatepass") + b"\0" + data
        return self._store.kept("given", Given, key, lambda: self._looked_for(data, name))

    def _looked_for(self, data: bytes, name: str) -> Given:
        from torchlint.semantics.provenance.given_alone import given
        from torchlint.semantics.summaries.summary import Given

        try:
            with recursion_headroom():
                semantics = self._semantics(data)
                return given(semantics, name) if semantics is not None else Given()
        except _UNREADABLE:
            return Given()

    def _semantics(self, data: bytes) -> Semantics | None:
        """All that a text means, which is kept among the last ones."""
        from torchlint.semantics import Semantics

        if data in self._at_hand:
            self._at_hand[data] = self._at_hand.pop(data)
        else:
            self._at_hand[data] = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._at_hand[data] = Semantics(ast.parse(data))
        while sum(map(len, self._at_hand)) > _MOST_AT_HAND and len(self._at_hand) > 1:
            gone = self._at_hand.pop(next(iter(self._at_hand)))
            if gone is not None:
                gone.let_go()
        return self._at_hand[data]
