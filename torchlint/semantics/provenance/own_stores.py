"""What an attribute of ``self`` was given just before, in the same run of a method: whatever subclasses do elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, position

_FAR = 60
"""So many statements are looked at on the way back."""
_REGISTERING = frozenset({"register_buffer", "register_parameter"})
"""Methods of modules that set other attributes than those that were assigned before."""


class OwnStores:
    """Tells what value ``self.x`` has where a statement of the same method has just assigned it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._settled: dict[tuple[ast.stmt, str], bool] = {}

    def value(self, node: ast.Attribute) -> ast.expr | None:
        """What ``self.x = …`` gave an attribute that is read, with nothing in between that may give it something else."""
        if self._semantics.facts.self_class(node.value) is None or not isinstance(node.ctx, ast.Load):
            return None
        for statement in self._before(node):
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name() as owner, attr=name)], value=value):
                    if name == node.attr and self._is_self(owner):
                        return value
            if not self._is_settled(statement, node.attr):
                return None
        return None

    def _before(self, node: ast.Attribute) -> Iterator[ast.stmt]:
        """The statements that have run before, whatever the way here, the last one first; none from beyond a loop."""
        child: ast.AST = node
        seen = 0
        for parent in self._tree.ancestors(node):
            if isinstance(child, ast.stmt) and not isinstance(parent, ast.Module):
                block = self._tree.block(child)
                at = next((at for at, statement in enumerate(block) if position(statement) >= position(child)), 0)
                for statement in reversed(block[:at]):
                    seen += 1
                    if seen > _FAR:
                        return
                    yield statement
            if isinstance(parent, (*FUNCTIONS, *LOOPS, ast.Lambda, ast.ClassDef, ast.GeneratorExp)):
                return
            child = parent

    def _is_settled(self, statement: ast.stmt, name: str) -> bool:
        """Whether a statement leaves the attribute ``name`` of ``self`` alone, and lets nobody else at it."""
        key = (statement, name)
        if key not in self._settled:
            self._settled[key] = all(self._leaves(part, name) for part in ast.walk(statement))
        return self._settled[key]

    def _leaves(self, part: ast.AST, name: str) -> bool:
        match part:
            case ast.Attribute(attr=attribute, ctx=ast.Store() | ast.Del()):
                return attribute != name
            case ast.Name() if self._is_self(part):
                return self._is_looked_at(part)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return False
        return True

    def _is_looked_at(self, name: ast.Name) -> bool:
        """Whether ``self`` is only there to name an attribute that is read or assigned."""
        parent = self._tree.parent(name)
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Name) and parent.func.id == "super"
        if not isinstance(parent, ast.Attribute):
            return False
        call = self._tree.parent(parent)
        return not (isinstance(call, ast.Call) and call.func is parent) or parent.attr in _REGISTERING

    def _is_self(self, name: ast.Name) -> bool:
        return self._semantics.facts.self_class(name) is not None
