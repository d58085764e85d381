"""Whether today's spelling of a call to torch means the same in this program, to whoever may notice."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, all_of, known, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.argument_order import ArgumentOrder
from torchlint.semantics.certainty.sources import Condition, Sources
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.observers.references import References
from torchlint.semantics.observers.unseen_warnings import UnseenWarnings
from torchlint.semantics.provenance.loaders import LOADERS

_OF_TENSORS = frozenset({"torch.nn.functional.sigmoid", "torch.nn.functional.tanh"})
"""Functions that call the method of what they are given, where those of today take tensors only."""
_FLAGGED = frozenset(torch_api.LOSS_FUNCTIONS | torch_api.LOSS_MODULES)


class SameMeaning:
    """Tells of old spellings whether the new one does the same."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def renamed(self, node: ast.expr, old: str, new: str) -> Fact:
        """Whether ``node``, which refers to ``old``, can refer to ``new``."""
        last, name = new.rpartition(".")[2], old.rpartition(".")[2]
        by_name = isinstance(node, ast.Name)
        taken = by_name and any(last in scope.bindings for scope in self._semantics.bindings.scopes.values())
        return all_of(
            self._semantics.of(UnseenWarnings).fact,
            known(old != "torch.nn.NLLLoss2d", "`NLLLoss2d` is a class of its own, which code may tell apart"),
            known(name not in self._assigned, f"the file assigns another `{name}`"),
            known(not by_name or self._semantics.of(Programs).acts, f"another file may import `{name}` from this one"),
            known(not taken, f"`{last}` is the name of something else in places"),
            self._semantics.of(References).finds_no_imports if by_name else CERTAIN,
            self._semantics.of(References).is_only_called(node, new),
            self._given_tensor(node) if old in _OF_TENSORS else CERTAIN,
        )

    def flagged(self, call: ast.Call) -> Fact:
        """Whether a loss can be told by ``reduction`` what it was told by flags: where all of its arguments are there."""
        name = self._semantics.qualified_name(call.func)
        direct = name in _FLAGGED or (name or "").startswith("torch.nn.NLLLoss2d")
        return self._semantics.of(UnseenWarnings).fact & known(
            direct, "another argument may be given later, or another class be meant"
        )

    def factors_moved(self, call: ast.Call) -> Fact:
        """Whether factors can stand behind the operands: nothing notices when which of them is computed."""
        return all_of(
            self._is_called_on_tensor(call),
            self._semantics.of(ArgumentOrder).is_free(call),
            self._semantics.of(UnseenWarnings).fact,
        )

    def of_tensor(self, call: ast.Call) -> Fact:
        """Whether a method that raises as it is called is torch's own, and nobody awaits the error."""
        return self._is_called_on_tensor(call) & self._semantics.of(FreeErrors).of(call, error="TypeError")

    def loaders_next(self, call: ast.Call) -> Fact:
        """Whether ``iterator.next()`` is asked of what a data loader of torch gives."""
        assert isinstance(call.func, ast.Attribute)
        condition = Condition("iterator of a data loader", self._iterates)
        is_free = self._semantics.of(FreeErrors).of(call, error="AttributeError")
        return self._semantics.of(Sources).fact(call.func.value, condition) & is_free

    # --- what that takes ---------------------------------------------------------------------------------------------

    def _is_called_on_tensor(self, call: ast.Call) -> Fact:
        if (self._semantics.qualified_name(call.func) or "").startswith("torch."):
            return CERTAIN
        if isinstance(call.func, ast.Attribute):
            return self._semantics.of(Tensors).fact(call.func.value)
        return unknown(f"`{shortened(call.func)}` may be no method of a tensor")

    def _given_tensor(self, function: ast.expr) -> Fact:
        match self._semantics.tree.parent(function):
            case ast.Call(func=called, args=[first, *_]) if called is function:
                return self._semantics.of(Tensors).fact(first)
        return unknown("it may be given something else than a tensor")

    def _iterates(self, node: ast.expr) -> Fact | None:
        match node:
            case ast.Call(func=function, args=[loader]) if self._semantics.qualified_name(function) == "builtins.iter":
                return self._semantics.of(Sources).fact(loader, Condition("data loader", self._loads))
        return None

    def _loads(self, node: ast.expr) -> Fact | None:
        if isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) in LOADERS:
            return CERTAIN
        return None

    @cached_property
    def _assigned(self) -> set[str]:
        """The names of attributes that are assigned to, as those of a module that is patched."""
        attributes = self._semantics.tree.of_type(ast.Attribute)
        named = [call.args[1] for call in self._semantics.facts.calls.get("setattr", ()) if len(call.args) > 1]
        return {node.attr for node in attributes if isinstance(node.ctx, ast.Store)} | {
            str(name.value) for name in named if isinstance(name, ast.Constant)
        }
