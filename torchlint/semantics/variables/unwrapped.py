"""What is left of a call of `Variable` without it: the tensor itself, or its ``detach()``, and what is certain of either.

`Variable(x)` of a `torch.Tensor` or parameter makes another object that shares memory and version counter, has no graph, does
not require grad, and has neither hooks nor attributes: that is ``x.detach()`` (ran on torch 2.13, also with views, sparse
tensors, in transforms and under ``inference_mode``). Otherwise with classes derived from `torch.Tensor`, which ``detach``
keeps, and with ``None``, of which Variable makes an empty tensor.
"""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, all_of, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.own_tensors import OwnTensors
from torchlint.semantics.certainty.passing_uses import PassingUses
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.variables.wrappers import Wrappers

_DEEP = 4


class Unwrapped:
    """Tells of calls of Variable what they can be replaced by."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._own = semantics.of(OwnTensors)
        self._uses = semantics.of(PassingUses)
        self._wrappers = semantics.of(Wrappers)

    def is_itself(self, call: ast.Call) -> Fact:
        """Whether nothing can tell what a call wraps from what it gives: nobody else has it, or nobody looks which it is."""
        data = self._wrappers.calls[call].data
        return self._own.is_bare(data) if self._uses.only_read(call) else self._own.is_own(data)

    def is_detached(self, data: ast.expr) -> Fact:
        """Whether to wrap ``data`` is to detach it: it is a tensor, of no class but torch's own."""
        return self._own.is_plain(data)

    def is_own(self, data: ast.expr) -> Fact:
        """Whether ``data`` is a new tensor without a graph, which nobody else refers to."""
        return self._own.is_own(data)

    def is_bare(self, data: ast.expr) -> Fact:
        """Whether ``data`` is a tensor without a graph, so that nothing is cut where it is wrapped."""
        return self._own.is_bare(data)

    def are_detached(self, collection: ast.expr) -> Fact:
        """Whether all elements of a collection are plain tensors, so that to wrap them is to detach them."""
        shown = self._written_out(collection)
        if shown is None:
            return unknown(f"`{ast.unparse(collection)[:40]}` may have other elements than tensors")
        return all_of(*map(self.is_detached, shown.elts))

    def _written_out(self, node: ast.expr) -> ast.List | ast.Tuple | None:
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
                return None
            return self._written_out(bindings[0].value) if bindings[0].uses == [node] and bindings[0].value else None
        if isinstance(node, (ast.List, ast.Tuple)) and not any(isinstance(part, ast.Starred) for part in node.elts):
            return node
        return None

    def is_boolean(self, flag: ast.expr) -> Fact:
        """Whether a flag is true or false, and nothing else: of other numbers, Variable alone takes notice."""
        return (
            CERTAIN if self._is_boolean(flag, _DEEP) else unknown(f"`{ast.unparse(flag)[:40]}` may be no bool, and is refused")
        )

    def _is_boolean(self, flag: ast.expr, depth: int) -> bool:
        match flag:
            case ast.Constant(value=bool()) | ast.UnaryOp(op=ast.Not()):
                return True
            case ast.Compare(left=left, ops=operators, comparators=others):
                is_of_objects = all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in operators)
                return is_of_objects or all(map(self._uses.is_plain, [left, *others]))  # what numpy's gives, Variable refuses
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(flag)
                values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path]
                is_shown = bool(values) and len(values) == len(bindings)
                return is_shown and all(value is not None and self._is_boolean(value, depth - 1) for value in values)
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in ("builtins.bool", "builtins.isinstance", "builtins.hasattr")
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_boolean(body, depth) and self._is_boolean(orelse, depth)
        return False
