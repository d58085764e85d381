"""Which layers an `nn.Sequential` that a file writes out begins and ends with."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.semantics import Semantics
from torchlint.semantics.sequences.changed import ChangedSequences

SEQUENTIAL = "torch.nn.Sequential"


class SequenceEnds:
    """Tells of what a call runs, ``self.body`` or ``net``, which layer is the first and which the last of a sequence."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def first(self, sequence: ast.expr) -> tuple[ast.Call, ...]:
        """The calls that make the first layer, one for each sequence that it may be; nothing where that is not certain."""
        return self._ends(self._made(sequence), 0)

    def last(self, sequence: ast.expr) -> tuple[ast.Call, ...]:
        """The calls that make the last layer, one for each sequence that it may be; nothing where that is not certain."""
        return self._ends(self._made(sequence), -1)

    def _ends(self, made: Sequence[ast.expr], place: int) -> tuple[ast.Call, ...]:
        found: list[ast.Call] = []
        for each in made:
            layers = self._layers(each)
            while layers and isinstance(layers[place], ast.Call) and self._is_sequence(layers[place]):
                layers = self._layers(layers[place])  # one within another
            end = layers[place] if layers else None
            if not isinstance(end, ast.Call):
                return ()
            found.append(end)
        return tuple(found)

    def _is_sequence(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) == SEQUENTIAL

    def _layers(self, made: ast.expr) -> list[ast.expr]:
        """The layers that a call gives a new sequence, those in an ``OrderedDict``, too; nothing where it is something else,
        or gets other layers later.
        """
        if not isinstance(made, ast.Call) or not self._is_sequence(made) or made.keywords:
            return []
        if self._semantics.of(ChangedSequences).include(made):
            return []
        match made.args:
            case [ast.Call(func=function) as named] if self._semantics.qualified_name(function) == "collections.OrderedDict":
                return _values(named)
        return made.args

    # --- what is run -------------------------------------------------------------------------------------------------

    def _made(self, sequence: ast.expr) -> list[ast.expr]:
        """All that a variable or an attribute of ``self`` is given; nothing where some of it is not in sight."""
        if isinstance(sequence, ast.Name):
            return self._semantics.bindings.values(sequence)
        facts = self._semantics.facts
        owner = facts.self_class(sequence.value) if isinstance(sequence, ast.Attribute) else None
        if owner is None or not isinstance(sequence, ast.Attribute) or sequence.attr in facts.stored_attributes:
            return []
        return facts.assigned(slot for each in facts.derived(owner) for slot in facts.slots(each, sequence.attr))


def _values(named: ast.Call) -> list[ast.expr]:
    """What the pairs have that a dictionary is made of; of what is no pair, that itself."""
    match named:
        case ast.Call(args=[ast.List(elts=pairs) | ast.Tuple(elts=pairs)], keywords=[]):
            return [pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else pair for pair in pairs]
    return []
