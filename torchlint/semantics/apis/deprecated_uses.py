"""Where a file uses what torch and its libraries deprecate or have removed: by a name, on a value, or by `getattr`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Basis, Binding, Form, Kind, Semantics, Type
from torchlint.semantics.apis.deprecations import deprecation, members, modules, symbols, unannounced
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.tree import TRIES, position

_OWNERS = {
    Type.TENSOR: "torch.Tensor",
    Type.MODULE: "torch.nn.Module",
    Type.OPTIMIZER: "torch.optim.Optimizer",
    Type.SCHEDULER: "torch.optim.lr_scheduler.LRScheduler",
}
_DIGITS = "torchvision.datasets.MNIST"
"""Its deprecated members are properties that cannot be assigned to: `self.train_data = …` raises."""
_BASES = {f"torchvision.datasets.{name}": _DIGITS for name in ("FashionMNIST", "KMNIST", "EMNIST", "QMNIST")}
"""Classes of the libraries, and what they inherit from that is in the table."""
_RESIZE = "torch.Tensor.resize"
_OTHER_LIBRARY = "torchao"
"""What the table says of functions that go without a successor in torch."""
_DISTRIBUTIONS = "torch.distributions."


class DeprecatedUses:
    """Finds them, without a look at what does not sound like one."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._spellings = semantics.of(Spellings)

    @cached_property
    def found(self) -> dict[ast.expr, str]:
        """The names, attributes and calls of `getattr`, with the full name that the table has for each."""
        table = symbols()
        uses: dict[ast.expr, str] = {}
        for reference in self._spellings.references(table):
            uses[reference] = self._semantics.qualified_name(reference) or ""
        for attribute in self._spellings.attributes(members().keys()):
            symbol = "" if attribute in uses else self._member(attribute)
            if symbol:
                uses[attribute] = symbol
        for call in self._semantics.facts.calls.get("getattr", ()):
            match call:
                case ast.Call(args=[owner, ast.Constant(value=str(last))], keywords=[]):
                    name = f"{self._semantics.qualified_name(owner) or ''}.{last}"
                    if canonical(name) in table:
                        uses[call] = canonical(name)
        for node in [*uses]:  # a module on the way to a name, where a function has its name, is not used by itself
            if isinstance(node, ast.Attribute) and uses.get(node, "").startswith(f"{uses.get(node.value)}."):
                uses.pop(node.value, None)
        return uses

    @cached_property
    def quiet(self) -> frozenset[ast.expr]:
        """Those of them that warn nobody, or that nobody changes.

        That is what only the documentation is about, types that are only said, what another library is to be used in place of,
        and the rate of a schedule that was moved by hand, which `get_last_lr` does not give before the next step.
        """
        return frozenset(
            node
            for node, symbol in self.found.items()
            if not deprecation(symbol).warns
            or _OTHER_LIBRARY in deprecation(symbol).message
            or self._is_annotation(node)
            or self._is_of_moved(node)
        )

    @cached_property
    def repeated(self) -> frozenset[ast.expr]:
        """The names among them of which an earlier one of the file is the same: what imports both is changed once."""
        found: set[ast.expr] = set()
        seen: set[str] = set()
        for node in sorted((node for node in self.found if isinstance(node, ast.Name)), key=position):
            if self.found[node] in seen:
                found.add(node)
            seen.add(self.found[node])
        return frozenset(found)

    def _is_of_moved(self, node: ast.expr) -> bool:
        """Whether a schedule is asked for its rate whose `last_epoch` the file sets."""
        if not isinstance(node, ast.Attribute) or node.attr != "get_lr":
            return False
        return ast.dump(node.value) in self._moved

    @cached_property
    def _moved(self) -> set[str]:
        places = self._spellings.attributes(frozenset({"last_epoch"}))
        return {ast.dump(place.value) for place in places if isinstance(place.ctx, ast.Store)}

    def _is_annotation(self, node: ast.expr) -> bool:
        """Whether a node stands in an annotation: a class warns as it is made, and none is made there."""
        child: ast.AST = node
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.arg():
                    return True
                case ast.AnnAssign(annotation=said) | ast.FunctionDef(returns=said) | ast.AsyncFunctionDef(returns=said):
                    return child is said
                case ast.stmt() | ast.Call():
                    return False
            child = parent
        return False

    @cached_property
    def imports(self) -> dict[ast.ImportFrom, str]:
        """The imports from modules that go as a whole, each with the module's full name, and those of what is gone
        without a word, each with the first name of it: the program ends there.
        """
        found = {}
        for statement in self._semantics.tree.of_type(ast.ImportFrom):
            module = statement.module or ""
            names = (module, *(f"{module}.{alias.name}" for alias in statement.names))
            gone = module if module in modules() else next((name for name in names if name in unannounced()), None)
            if gone is not None and not statement.level:
                found[statement] = gone
        return found

    def is_conditional(self, node: ast.expr) -> bool:
        """Whether what ``node`` refers to was imported where it may be missing, or may be something else in its place."""
        while isinstance(node, ast.Attribute):
            node = node.value
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        several = len({binding.imported if binding.form is Form.IMPORT else id(binding) for binding in bindings}) > 1
        return several or any(self._is_tried(binding) for binding in bindings)

    def _is_tried(self, binding: Binding) -> bool:
        statement = self._semantics.tree.statement(binding.node)
        return binding.form is Form.IMPORT and isinstance(self._semantics.tree.parent(statement), (*TRIES, ast.ExceptHandler))

    # --- methods and attributes of values ----------------------------------------------------------------------------

    def _member(self, node: ast.Attribute) -> str:
        """The full name of a member of a class of the table that ``node`` is, for what its owner is known to be."""
        if self._semantics.qualified_name(node) is not None:
            return ""
        symbols = members()[node.attr]
        found = next((symbol for owner in self.owners(node) if (symbol := f"{owner}.{node.attr}") in symbols), "")
        if found.startswith("torch.Tensor.") and isinstance(self._semantics.tree.parent(node), ast.Attribute):
            return ""  # nobody asks a method for an attribute: it is one of another class
        if found == _RESIZE and self._is_resized_image(node):
            return ""
        return found if isinstance(node.ctx, ast.Load) or found.startswith(_DIGITS) else ""

    def _is_resized_image(self, node: ast.Attribute) -> bool:
        """Whether a `resize` is that of an image, or an array: that of tensors takes sizes only, and none of them by name."""
        match self._semantics.tree.parent(node):
            case ast.Call(func=function, args=given, keywords=named) if function is node:
                return bool(named) or (len(given) > 1 and isinstance(given[0], (ast.Tuple, ast.List)))
        return False

    def owners(self, node: ast.Attribute) -> Iterator[str]:
        """The classes of the libraries, by their full names, that a value has a member from."""
        kind = self._semantics.kind(node.value)
        if kind.loose or kind.used == node.attr or kind.basis is Basis.PROPAGATED:
            return  # a nest of tensors, or what is taken for a tensor for having this very method
        definition = kind.definition
        if isinstance(definition, ast.ClassDef):
            if self._defines(definition, node.attr):
                return
            for each in self._semantics.facts.bases(definition):
                yield from (found for base in each.bases for found in _with_bases(self._semantics.qualified_name(base) or ""))
        elif kind.type in (Type.INSTANCE, Type.UNKNOWN, Type.SCHEDULER):
            yield from _with_bases(kind.name if kind.known else self._class_of(node.value, kind))
        if kind.type in _OWNERS:
            yield _OWNERS[kind.type]

    def _defines(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether a class of the file, or a base of it there, has a member of that name of its own."""
        facts = self._semantics.facts
        if facts.method(owner, name) is not None or any(slot.stores for slot in facts.slots(owner, name)):
            return True
        scopes = self._semantics.bindings.scopes
        return any(name in scopes[each].bindings for each in facts.bases(owner) if each in scopes)

    def _class_of(self, node: ast.expr, kind: Kind) -> str:
        """The full name of the class that makes a value of which nothing else is known; empty where it is not one class."""
        match node:
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) or ""
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                made = {
                    (self._semantics.qualified_name(found.value.func) or "")
                    if found.form is Form.ASSIGNMENT and not found.path and isinstance(found.value, ast.Call)
                    else ""
                    for found in bindings
                }
                return made.pop() if len(made) == 1 else ""
        return kind.name


def _with_bases(name: str) -> Iterator[str]:
    """A class of the libraries, and those it inherits from that are in the table."""
    if not name.startswith("torch"):
        return
    yield name
    if name in _BASES:
        yield _BASES[name]
    if name.startswith(_DISTRIBUTIONS) and name.rpartition(".")[2][:1].isupper():
        yield f"{_DISTRIBUTIONS}Distribution"
