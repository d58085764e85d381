"""Whose memory nobody else has: a tensor that a factory made where it stands, or for one name that is read once."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Form

_SHARING = frozenset({"torch.from_numpy", "torch.frombuffer", "torch.from_dlpack", "torch.from_file"})
"""Factories whose result has the memory of what they are given."""
_FACTORIES = torch_api.FACTORIES - _SHARING
_VIEWS = frozenset({"unsqueeze", "squeeze", "view", "reshape", "t", "transpose", "permute", "flatten", "to", "float", "long"})
"""Methods whose result has the memory of what they are called on, or a new one."""


class SoleMemory:
    """Tells of expressions whether anything else has the memory of what they give."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor without graph whose memory nothing else of the program can reach."""
        match node:
            case ast.Call(func=function, keywords=words) if self._semantics.qualified_name(function) in _FACTORIES:
                if not {word.arg for word in words} & {None, "requires_grad", "out"}:
                    return CERTAIN
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS:
                return self.fact(inner)
            case ast.Name():
                found = self._semantics.bindings.reaching(node)
                if len(found) == 1 and found[0].uses == [node] and self._is_local(node):
                    [binding] = found
                    if binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None:
                        return self.fact(binding.value)
        return unknown(f"code may rely on the memory that is shared with `{shortened(node)}`")

    def _is_local(self, name: ast.Name) -> bool:
        """Whether a name belongs to a function, so that no other file can read it."""
        [binding] = self._semantics.bindings.reaching(name)
        return binding.scope.parent is not None and not isinstance(binding.scope.node, ast.ClassDef)
