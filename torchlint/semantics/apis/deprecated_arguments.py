"""Calls of torch and its libraries that give what is deprecated or removed, or leave out what is to be given."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property

from torchlint.semantics import Semantics, Type
from torchlint.semantics.apis.deprecated_uses import DeprecatedUses
from torchlint.semantics.apis.deprecations import Deprecation, deprecation, is_member, parameters
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, Function, keyword
from torchlint.semantics.inheritance.inherited_methods import InheritedMethods


class DeprecatedArguments:
    """Finds them, without a look at calls of what does not sound like a function of the table."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, tuple[tuple[str, str], ...]]:
        """The calls, each with the functions and parameters that the table knows them by."""
        uses: dict[ast.Call, tuple[tuple[str, str], ...]] = {}
        for call in self._semantics.of(Spellings).calls(_words()):
            symbol = self._semantics.qualified_name(call.func) or self._method(call)
            used = tuple(each for each in _used(call, symbol) if not self._is_given_beside(call, deprecation(*each)))
            if used:
                uses[call] = used
        for call in self._semantics.facts.calls.get("__init__", ()):
            symbol, before = self._semantics.of(InheritedMethods).of(call) if call.args or call.keywords else ("", 0)
            used = tuple(each for each in _used(call, symbol, before) if deprecation(*each).removed)
            if used and not is_awaited(self._semantics.tree, call):
                uses[call] = used
        return uses

    def _is_given_beside(self, call: ast.Call, row: Deprecation) -> bool:
        """Whether another branch makes the same call with what is missing here, as where this one is for old releases."""
        if row.when != "missing":
            return False
        child: ast.AST = call
        for parent in self._semantics.tree.ancestors(call):
            if isinstance(parent, (ast.If, ast.IfExp, ast.Try)):
                others = (part for other in ast.iter_child_nodes(parent) if other is not child for part in ast.walk(other))
                if any(_gives(part, call, row) for part in others):
                    return True
            if isinstance(parent, FUNCTIONS):
                return False
            child = parent
        return False

    def _method(self, call: ast.Call) -> str:
        """The full name of a method of the table that is called, for what its owner is known to be."""
        if not isinstance(call.func, ast.Attribute):
            return ""
        name = call.func.attr
        if not any(any(_used(call, symbol)) for symbol in _methods().get(name, ())):
            return ""  # what it is a method of does not matter then
        owners = [*self._semantics.of(DeprecatedUses).owners(call.func)]
        if _PLATEAU not in owners and self._is_of_one_class(call.func.value, call):
            return ""
        for owner in owners if owners != [_SCHEDULER] else ():
            if f"{owner}.{name}" in _methods()[name] or owner in _OF_THEIR_OWN:
                return f"{owner}.{name}"
        return _TOLD_BY_PARAMETER[name] if name in _TOLD_BY_PARAMETER and self._is_told(call.func) else ""

    def _is_told(self, method: ast.Attribute) -> bool:
        """Whether a method is known by its parameter, as only torch's takes it: not one of a class of the project that has a
        method of this name of its own, nor one of paddle's tensors.
        """
        kind = self._semantics.kind(method.value)
        if kind.known and kind.type not in (Type.TENSOR, Type.MODULE, Type.INSTANCE, Type.UNKNOWN):
            return False
        if _ANOTHER_LIBRARY in self._semantics.words.all or method.attr in self._methods:
            return False
        return self._semantics.elsewhere.speaks_of(f"own {method.attr}") is not True

    @cached_property
    def _methods(self) -> set[str]:
        """The names of the methods that the classes of the file have."""
        tree = self._semantics.tree
        functions: list[Function] = [*tree.of_type(ast.FunctionDef), *tree.of_type(ast.AsyncFunctionDef)]
        return {each.name for each in functions if isinstance(tree.parent(each), ast.ClassDef)}

    def _is_of_one_class(self, owner: ast.expr, call: ast.Call) -> bool:
        """Whether a call is under a condition that asks which scheduler it is: `ReduceLROnPlateau.step` takes the loss. Or one
        of the values that it may be of is such a scheduler.
        """
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
            return False
        around = self._semantics.tree.ancestors(call)
        parts = [part for parent in around if isinstance(parent, (ast.If, ast.IfExp)) for part in ast.walk(parent.test)]
        if any(_asks_for_class(part, owner) or "plateau" in _word(part) for part in parts):
            return True
        return any(isinstance(part, ast.Call) and "plateau" in _word(part.func) for part in self._given(owner))

    def _given(self, owner: ast.expr) -> Iterator[ast.AST]:
        """What is in the values that a name, or an attribute of an object of the file, is given."""
        values: list[ast.AST | None] = []
        if isinstance(owner, ast.Name):
            values += (binding.value for binding in self._semantics.bindings.reaching(owner))
        elif isinstance(owner, ast.Attribute) and (cls := self._semantics.facts.self_class(owner.value)) is not None:
            stores = [store for slot in self._semantics.facts.slots(cls, owner.attr) for store in slot.stores]
            values += (getattr(self._semantics.tree.statement(store), "value", None) for store in stores)
        for value in values:
            yield from ast.walk(value) if value is not None else ()


def _gives(node: ast.AST, call: ast.Call, row: Deprecation) -> bool:
    """Whether a node is a call of the same function that gives the parameter of a row."""
    is_same = isinstance(node, ast.Call) and ast.dump(node.func) == ast.dump(call.func)
    return is_same and isinstance(node, ast.Call) and any(word.arg == row.parameter for word in node.keywords)


def _asks_for_class(test: ast.AST, owner: ast.expr) -> bool:
    """Whether a part of a test asks what an object is, or has."""
    match test:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "type" | "callable"), args=[asked, *_]):
            return ast.dump(asked) == ast.dump(owner)
    return False


def _word(node: ast.AST) -> str:
    """The name or the text that a part of a test is, in lower case."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
            return word.lower()
    return ""


_SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"
"""What every scheduler is; which one it is decides whether `step` is this one's."""
_PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
_OF_THEIR_OWN = frozenset(
    f"torch.optim.lr_scheduler.{name}" for name in ("ChainedScheduler", "CosineAnnealingWarmRestarts", "SequentialLR")
)
"""Schedulers that do not inherit what the table says of all of them: `step` is theirs, and takes an epoch without a warning."""

_TOLD_BY_PARAMETER = {"cuda": "torch.nn.Module.cuda"}
"""Methods of which a removed parameter tells that they are torch's, whatever is known of what they are called on."""
_ANOTHER_LIBRARY = "paddle"
"""The library whose tensors take that parameter."""


@cache
def _words() -> frozenset[str]:
    """What the functions, classes and methods are called that the table has parameters of."""
    return frozenset(name.rpartition(".")[2] for name in parameters())


@cache
def _methods() -> dict[str, frozenset[str]]:
    """The full names of the methods, by their last part."""
    found: dict[str, set[str]] = defaultdict(set)
    for symbol in parameters():
        if is_member(symbol):
            found[symbol.rpartition(".")[2]].add(symbol)
    return {name: frozenset(symbols) for name, symbols in found.items()}


def _used(call: ast.Call, symbol: str, before: int = 0) -> Iterator[tuple[str, str]]:
    """What a call gives, or leaves out, of the parameters that the table has; ``before`` them it gives others."""
    return ((symbol, each) for each in parameters().get(symbol, ()) if _is_used(call, deprecation(symbol, each), before))


def _is_used(call: ast.Call, row: Deprecation, before: int) -> bool:
    """Whether a call is one that a row of the table speaks of."""
    value = keyword(call, row.parameter)
    if value is None and row.place.isdigit():
        value = _at(call, int(row.place) + before)
    match row.when:
        case "given":
            heeds_all = row.removed or row.replacement == "-"  # what is to be left out warns of False as well
            is_nothing = isinstance(value, ast.Constant) and (
                (value.value is None and not row.removed) or (value.value is False and not heeds_all)
            )
            return value is not None and not is_nothing
        case "missing":
            return value is None and not _is_open_ended(call, row)
        case condition if condition.startswith("="):
            return value is not None and ast.unparse(value) == condition[1:]
    return False


def _at(call: ast.Call, place: int) -> ast.expr | None:
    """What is given by position in a place; none behind what is handed on."""
    before = call.args[: place + 1]
    return before[place] if len(before) > place and not any(isinstance(each, ast.Starred) for each in before) else None


def _is_open_ended(call: ast.Call, row: Deprecation) -> bool:
    """Whether a call hands on arguments, of which one may be the one in question."""
    by_place = bool(row.place) and any(isinstance(each, ast.Starred) for each in call.args)
    return by_place or any(each.arg is None for each in call.keywords)
