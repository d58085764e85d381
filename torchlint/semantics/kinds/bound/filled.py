"""What is written into a tensor after it was made: ``out = torch.zeros(9, 3)`` and then ``out[t] = layer(x)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import Tree, keyword, last_name

_FLOATING = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn"))
"""Factories whose tensors are of floating point where they are told nothing else."""
_FLOATING_TYPES = frozenset({"float", "float16", "float32", "float64", "half", "double", "bfloat16"})
_MOVING = frozenset({"cuda", "cpu", "float", "double", "half", "bfloat16"})
_WRITING = frozenset(
    {
        *("copy_", "add_", "sub_", "mul_", "div_", "lerp_", "addcmul_", "addcdiv_", "addmm_", "addmv_", "baddbmm_", "fill_"),
        *("index_add_", "index_copy_", "index_put_", "scatter_", "scatter_add_", "masked_scatter_", "masked_fill_"),
    }
)
"""Methods by which a tensor carries the graph of what they are given, found by running each on torch 2.13."""


def writes_of(binding: Binding, tree: Tree, named: Callable[[ast.expr], str | None]) -> list[tuple[ast.expr, ast.expr]]:
    """Where the function that a name is bound in writes into its tensor, with the values: to its parts, or by a method.

    None where it may be of a dtype without gradients, or is detached in place.
    """
    if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
        return []
    inside = [use for use in binding.uses if tree.function(use) is tree.function(binding.value)]
    found: list[tuple[ast.expr, ast.expr]] = [(use, value) for use in inside for value in _written(use, tree)]
    if not found or not is_floating(binding.value, named):
        return []
    parents = (tree.parent(use) for use in inside)
    return [] if any(isinstance(each, ast.Attribute) and each.attr == "detach_" for each in parents) else found


def _written(use: ast.expr, tree: Tree) -> Iterator[ast.expr]:
    """What one use of a tensor writes into it, or into a part: ``x[i] = v``, ``x[i] += v``, ``x.copy_(v)``."""
    node, parent = use, tree.parent(use)
    while isinstance(parent, ast.Subscript) and parent.value is node:
        node, parent = parent, tree.parent(parent)
    match parent:
        case ast.Assign(value=value) if node is not use and node in parent.targets:
            yield value
        case ast.AugAssign(target=target, value=value) if target is node is not use:
            yield value
        case ast.Attribute(value=owner, attr=method) if owner is node and method in _WRITING:
            call = tree.parent(parent)
            if isinstance(call, ast.Call) and call.func is parent:
                yield from call.args
                yield from (each.value for each in call.keywords)


def is_floating(value: ast.expr, named: Callable[[ast.expr], str | None]) -> bool:
    """Whether a tensor is made with values of floating point, and at most moved."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[place], keywords=[]):
            is_place = isinstance(place, ast.Constant) or "device" in last_name(place).lower()
            return is_place and is_floating(inner, named)
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVING:
            return is_floating(inner, named)
        case ast.Call(func=function):
            dtype = keyword(value, "dtype")
            return named(function) in _FLOATING and (dtype is None or last_name(dtype) in _FLOATING_TYPES)
    return False


@dataclass(frozen=True, slots=True)
class Writes:
    """Where a tensor is written into, in short: the first place in the text, and the loops behind its making."""

    first: tuple[int, int]
    loops: frozenset[ast.AST]

    def may_be_before(self, node: ast.expr, tree: Tree) -> bool:
        """Whether a use of the tensor may come behind one of them: in the text, or in the next round of a loop."""
        return self.first < (node.lineno, node.col_offset) or not self.loops.isdisjoint(tree.loops(node))


def writes_at(uses: Sequence[ast.expr], made: ast.expr, tree: Tree) -> Writes | None:
    """The writes at some uses of a tensor that ``made`` makes; ``None`` if there are none."""
    if not uses:
        return None
    loops = frozenset[ast.AST](loop for use in uses for loop in tree.loops(use))
    return Writes(min((use.lineno, use.col_offset) for use in uses), loops.difference(tree.loops(made)))
