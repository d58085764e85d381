"""Networks whose weights are moved after those of another one: a target network, a teacher that is an average."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import LOOPS, last_name

_GIVING = frozenset({"parameters", "named_parameters", "buffers", "named_buffers", "values", "items", "state_dict"})
_WRAPPING = frozenset({"zip", "list", "enumerate", "dict"})


class AveragedWeights:
    """Tells of changes of weights whether they follow those of another network."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def follow(self, change: ast.expr) -> bool:
        """Whether a loop over the weights of two networks changes those of one by those of the other, and by no gradient."""
        statement = self._tree.statement(change)
        names = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
        if any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(statement)):
            return False
        loops = (parent for parent in self._tree.ancestors(statement) if isinstance(parent, LOOPS))
        loop = next(loops, None)
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or last_name(loop.iter.func) != "zip":
            return False
        given = [self._owner(each) for each in loop.iter.args]
        targets = [part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)]
        return len(given) >= 2 and all(given) and len(set(given)) == len(given) and len(names.intersection(targets)) >= 2

    def _owner(self, given: ast.expr) -> str:
        """What weights are of, as it is spelled: ``net`` of ``list(net.parameters())``; nothing where they are no weights."""
        while isinstance(given, ast.Call) and last_name(given.func) in _WRAPPING and given.args:
            given = given.args[0]
        while isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr in _GIVING:
            inner = given.func.value
            if not isinstance(inner, ast.Call):
                return ast.unparse(inner)
            given = inner
        return ""
