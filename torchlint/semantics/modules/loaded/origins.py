"""Where a value is from of which nothing else is known: callers, other files and libraries, or somewhere in the file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from enum import Enum

from torchlint.semantics import Binding, Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere

_MOST = 40
"""So many expressions are looked at on the way to where a value is from."""
_MOST_VALUES = 8
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec", "patch"})
_OTHERS = frozenset({"mock", "tensordict", "pytest", "torchrl"})
"""Libraries whose objects are no modules, whatever the project has."""


class Origin(Enum):
    """Where a value is from."""

    GIVEN = "a parameter"
    FOREIGN = "a library or another file that gives no module, as far as is known"
    TORCH = "what torch makes"
    OPEN = "something else"


class Origins:
    """Follows the values of one file back to where they are from."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._of_attributes: dict[tuple[ast.ClassDef, str], list[ast.expr]] = {}

    def of(self, value: ast.expr) -> set[Origin]:
        """All the places that a value may be from."""
        found, seen, pending = set[Origin](), {value}, [value]
        while pending:
            for each in self._before(pending.pop()):
                if isinstance(each, Origin):
                    found.add(each)
                elif each not in seen and len(seen) < _MOST:
                    seen.add(each)
                    pending.append(each)
        return found or {Origin.OPEN}

    def making(self, value: ast.expr) -> ast.Call | None:
        """The one call that makes a value, by whatever name it goes."""
        for _ in range(_MOST):
            match value:
                case ast.Call():
                    return value
                case ast.Name():
                    bindings = self._semantics.bindings.reaching(value)
                    known = bindings[0] if len(bindings) == 1 and not bindings[0].path else None
                    inner = known.value if known is not None and known.form is Form.ASSIGNMENT else None
                case ast.Attribute(value=ast.Name()):
                    # A result that is given back to the attribute makes nothing.
                    made = [each for each in self._assigned(value) if not _is_loading(each)]
                    inner = made[0] if len(made) == 1 else None
                case _:
                    inner = None
            if inner is None:
                return None
            value = inner
        return None

    def _before(self, value: ast.expr) -> Iterable[ast.expr | Origin]:
        """What a value is from, one step back."""
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return [each for binding in bindings for each in self._of_binding(binding)]
            case ast.Attribute(value=owner):
                return self._assigned(value) or [owner]
            case ast.Call(func=function):
                return self._of_call(function)
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
            case ast.BoolOp(values=values):
                return values
            case ast.Subscript(value=inner) | ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return [inner]
        return [Origin.OPEN]

    def _of_binding(self, binding: Binding) -> Iterator[ast.expr | Origin]:
        match binding.form:
            case Form.IMPORT | Form.CLASS | Form.FUNCTION:
                yield Origin.FOREIGN
            case Form.PARAMETER:
                yield Origin.GIVEN
                said = binding.node.annotation if isinstance(binding.node, ast.arg) else None
                if said is not None and last_name(said) not in ("", "Any") and self._semantics.elsewhere.is_in_project:
                    yield Origin.FOREIGN
            case Form.ASSIGNMENT if binding.value is not None:
                yield binding.value
            case _:
                yield Origin.OPEN

    def _of_call(self, function: ast.expr) -> list[ast.expr | Origin]:
        if last_name(function) in _MOCKS:
            return [Origin.FOREIGN]
        if isinstance(self._facts.definition(function), ast.ClassDef):
            return [Origin.FOREIGN]
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        is_import = isinstance(root, ast.Name) and any(
            each.form is Form.IMPORT for each in self._semantics.bindings.reaching(root)
        )
        if is_import:
            return [self._of_imported(function)]
        if isinstance(function, ast.Attribute) and self._facts.self_class(function.value) is None:
            return [function.value]
        return [Origin.OPEN]

    def _of_imported(self, function: ast.expr) -> Origin:
        """Where that is from which an imported function or class gives."""
        library = (self._semantics.qualified_name(function) or "").partition(".")[0]
        if library in sys.stdlib_module_names or library in _OTHERS:
            return Origin.FOREIGN
        elsewhere = self._semantics.elsewhere
        found = elsewhere.target(function)
        if library in ("torch", "timm", "torchvision"):
            return Origin.TORCH
        if isinstance(found, FunctionElsewhere) or not elsewhere.is_in_project:
            return Origin.OPEN
        is_module = isinstance(found, ClassElsewhere) and elsewhere.lookup.is_module(found)
        return Origin.OPEN if is_module else Origin.FOREIGN

    def _assigned(self, attribute: ast.Attribute) -> list[ast.expr]:
        """What the class around gives an attribute of its instances; nothing of the attributes of other objects."""
        owner = self._facts.self_class(attribute.value)
        if owner is None:
            return []
        if (owner, attribute.attr) not in self._of_attributes:
            values = self._facts.assigned(self._facts.slots(owner, attribute.attr))
            self._of_attributes[owner, attribute.attr] = values[:_MOST_VALUES]
        return self._of_attributes[owner, attribute.attr]


def _is_loading(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and last_name(value.func) == "load_state_dict"
