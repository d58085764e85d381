"""Gradients that are certainly wanted where they are read, and certainly there once the fix has been made."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, refuted, shortened, unknown
from torchlint.semantics import Grad, Semantics, torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.graphs.sure_graphs import SureGraphs
from torchlint.semantics.observers.free_errors import FreeErrors

_CLEARING = frozenset({"zero_grad", "grad"})
_AROUND = (ast.keyword, ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.IfExp)
_KEEPING = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Yield, ast.For, ast.comprehension)
"""What gives a value, or the collection that it stands in, to other names and other code."""
_SHOWING = frozenset(f"builtins.{name}" for name in ("print", "len", "float", "str", "repr", "isinstance", "type", "id"))
_BEFORE = "no backward pass runs for certain before the gradient is read"


class WantedGradients:
    """Tells of reads of ``.grad`` whether the tensor has one once it is retained, or the leaf's is taken."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._graphs = semantics.of(SureGraphs)

    def retained(self, read: ast.Attribute) -> Fact:
        """Whether the variable that ``read`` takes the gradient of can be retained before a backward pass."""
        name = read.value
        if not isinstance(name, ast.Name) or (made := self._graphs.made(name)) is None:
            return unknown(f"`{shortened(name)}` may be another tensor by then")
        if self._backward_behind(self._tree.statement(made.node), read) is None:
            return unknown(_BEFORE)
        return self.is_wanted(read) & self._graphs.requires_grad(name) & self._is_read_by_name(name)

    def of_leaf(self, read: ast.Attribute) -> Fact:
        """Whether ``w.grad`` is there where ``read`` takes ``w[0].grad``."""
        match read.value:
            case ast.Subscript(value=ast.Name() as whole) if self._graphs.is_leaf(whole):
                made = self._graphs.made(whole)
            case ast.Subscript(value=whole) if self._semantics.kind(whole).grad is Grad.GRAPH:
                return refuted(f"`{shortened(whole)}` is no leaf either")
            case ast.Subscript(value=whole):
                return unknown(f"`{shortened(whole)}.grad` may be None as well")
            case _:
                return unknown("it may be None as well")
        assert made is not None
        backward = self._backward_behind(self._tree.statement(made.node), read)
        if backward is None or not self._graphs.depends(backward, made):
            return unknown(f"`{whole.id}.grad` may be None as well")
        return self.is_wanted(read) & self._graphs.unchanged

    # --- the backward pass -------------------------------------------------------------------------------------------

    def _backward_behind(self, start: ast.stmt, read: ast.Attribute) -> ast.expr | None:
        """What is propagated by a statement between ``start`` and ``read``, with no way around it and no clearing behind."""
        found: ast.expr | None = None
        block = self._tree.block(start)
        for statement in block[block.index(start) + 1 :]:
            if self._tree.inside(read, statement):
                return found
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=loss, attr="backward"), args=[], keywords=[])) if (
                    found is None
                ):
                    found = loss
                case _ if any(isinstance(each, ast.Attribute) and each.attr in _CLEARING for each in ast.walk(statement)):
                    stores = (each for each in ast.walk(statement) if isinstance(each, ast.Attribute))
                    if found is not None and any(each.attr == "zero_grad" or _is_stored(each) for each in stores):
                        return None
        return None

    # --- what is done with it ----------------------------------------------------------------------------------------

    def is_wanted(self, read: ast.Attribute) -> Fact:
        """Whether nobody reckons with ``None``: it is shown, or used as a tensor, or nothing in the file asks for ``None``."""
        asked = unknown("the code may reckon with None")
        text = ast.unparse(read)
        same = [each for each in self._tree.of_type(ast.Attribute) if each.attr == "grad" and ast.unparse(each) == text]
        if any(self._is_asked(each) for each in same):
            return asked
        parent: ast.AST | None = self._tree.parent(read)
        while isinstance(parent, (ast.Tuple, ast.FormattedValue, ast.JoinedStr)):
            parent = self._tree.parent(parent)
        match parent:
            case ast.Expr():
                return CERTAIN
            case ast.Call(func=function) if self._semantics.qualified_name(function) == "builtins.print":
                return CERTAIN
            case ast.Attribute() | ast.BinOp():
                return self._semantics.of(FreeErrors).fact
            case ast.Call(func=ast.Attribute(attr="append")):
                return known(not self._asks_for_none, "the code may reckon with None")
        return asked

    def _is_asked(self, read: ast.Attribute) -> bool:
        return isinstance(self._tree.parent(read), (ast.Compare, ast.BoolOp, ast.If, ast.IfExp, ast.UnaryOp, ast.While))

    def _is_read_by_name(self, name: ast.Name) -> Fact:
        """Whether nobody else comes upon the gradient: what reads those of all in a list may have gone without this one."""
        if not self._reads_of_any:
            return CERTAIN
        others = self._semantics.bindings.lookup(name.id, self._semantics.bindings.scope_of(name))
        uses = (use for binding in others for use in binding.uses)
        handed = any(self._is_handed_on(use) for use in uses)
        return known(not handed, f"`{name.id}` is handed on, to code that may read gradients")

    def _is_handed_on(self, use: ast.Name) -> bool:
        """Whether a use puts a tensor into a collection, gives it another name, or hands it to more than an operation."""
        child: ast.AST = use
        parent = self._tree.parent(use)
        while isinstance(parent, _AROUND):
            child, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Call(func=function):
                return child is not function and not self._is_operation(parent)
        return isinstance(parent, _KEEPING)

    def _is_operation(self, call: ast.Call) -> bool:
        """Whether a call computes something of what it is given, or shows it, and reads no gradient."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return not name.startswith(("torch.nn.utils.", "torch.optim."))
        return name in _SHOWING or self._semantics.kind(call.func).name in torch_api.MODULES

    @cached_property
    def _reads_of_any(self) -> bool:
        """Whether the file reads the gradient of something that has no value of its own in it, or torch does for it."""
        reads = (node for node in self._tree.of_type(ast.Attribute) if node.attr == "grad" and not self._is_function(node))
        calls = self._semantics.facts.calls
        return (
            any(not (isinstance(read.value, ast.Name) and self._is_computed(read.value)) for read in reads)
            or any(name.startswith("clip_grad") or name == "get_total_norm" for name in calls)
            or any(isinstance(text.value, str) and text.value == "grad" for text in self._tree.of_type(ast.Constant))
        )

    def _is_function(self, node: ast.Attribute) -> bool:
        return self._semantics.qualified_name(node) == "torch.autograd.grad"

    def _is_computed(self, name: ast.Name) -> bool:
        """Whether all values of a variable are made by calls and operators: it is no second name of another one."""
        found = self._semantics.bindings.reaching(name)
        making = (ast.Call, ast.BinOp, ast.UnaryOp)
        return all(
            each.form is Form.AUGMENTED or (each.form is Form.ASSIGNMENT and isinstance(each.value, making) and not each.path)
            for each in found
        )

    @property
    def _asks_for_none(self) -> bool:
        nodes = self._tree.of_type(ast.Constant)
        return (
            any(node.value is None and isinstance(self._tree.parent(node), ast.Compare) for node in nodes)
            or any(self._tree.of_type(ast.BoolOp))
            or "filter" in self._semantics.facts.calls
        )


def _is_stored(node: ast.Attribute) -> bool:
    return node.attr == "grad" and not isinstance(node.ctx, ast.Load)
