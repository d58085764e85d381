"""States of wrapped modules that are saved: their keys begin with what the wrapper calls the module within."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, dotted, last_name
from torchlint.semantics.provenance.modules import PARALLEL
from torchlint.semantics.saving.files import SavedFiles

Node = TypeVar("Node")

_COMPILING = "torch.compile"
_PREFIXES = ("module.", "_orig_mod")
"""What is taken from the keys, by code that knows of them."""
_SAVING = re.compile(r"_?save(_|[A-Z]|\Z)|(^|_)save\Z|dump")
_LOADING = re.compile(r"load|restore|resume|restart", re.IGNORECASE)
_SAME = frozenset({"to", "cuda", "train", "eval", "float"})
_DEPTH = 4


@dataclass(frozen=True, eq=False, slots=True)
class WrappedState(Generic[Node]):
    """The state of a ``module`` that ``wrapper`` wraps, under the attribute ``within``; not ``always``, if only some code does.

    ``is_loaded_alike`` where the file loads states into a wrapped module, too, so that the keys fit there.
    """

    module: Node
    wrapper: Node
    within: str
    always: bool
    is_loaded_alike: bool


class WrappedStates:
    """Finds the calls of ``state_dict`` in a file that give such a state, and whose result is saved."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._saves = semantics.of(SavedFiles).saves

    @cached_property
    def found(self) -> dict[ast.Call, WrappedState[ast.expr]]:
        """The calls that give a state of a wrapped module, which is saved, unless the project knows of the prefixes."""
        if not self._wrappings or self._knows_prefixes:
            return {}
        found: dict[ast.Call, WrappedState[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("state_dict", ()):
            if isinstance(call.func, ast.Attribute) and dotted(call.func.value) is not None and not call.args + call.keywords:
                wrapped = self._wrapped(call.func.value)
                if wrapped is not None and self._is_saved(call, 0) and not self._is_asked_for(call.func.value):
                    wrapper, within, always = wrapped
                    found[call] = WrappedState(call.func.value, wrapper, within, always, self._loads_wrapped)
        return {} if found and self._semantics.elsewhere.speaks_of("prefixes") else found

    @cached_property
    def _wrappings(self) -> dict[ast.Call, str]:
        """The calls that wrap a module, each with the attribute that holds it."""
        found: dict[ast.Call, str] = {}
        for calls in self._semantics.facts.calls.values():
            for call in calls:
                name = self._semantics.qualified_name(call.func) or ""
                if call.args and (name in PARALLEL or name == _COMPILING):
                    found[call] = "_orig_mod" if name == _COMPILING else "module"
        return found

    @cached_property
    def _knows_prefixes(self) -> bool:
        """Whether the file takes the prefixes from keys, by their text or length, or adds them."""
        for part in self._tree.of_type(ast.Slice):
            if isinstance(part.lower, ast.Constant) and part.lower.value in (7, 10) and part.upper is None:
                return True
        texts = (node.value for node in self._tree.of_type(ast.Constant) if isinstance(node.value, str))
        return any(text.startswith(_PREFIXES) or text == "module" for text in texts)

    @cached_property
    def _loads_wrapped(self) -> bool:
        """Whether a state is loaded into a module that is wrapped, here or by a function that is called so."""
        calls = self._semantics.facts.calls
        into = [call.func.value for call in calls.get("load_state_dict", ()) if isinstance(call.func, ast.Attribute)]
        for name, loading in calls.items():
            if name != "load_state_dict" and _LOADING.search(name):
                into += [value for call in loading for value in (*call.args, *(word.value for word in call.keywords))]
        return any(dotted(module) is not None and self._wrapped(module) is not None for module in into)

    # --- which module it is of ---------------------------------------------------------------------------------------

    def _wrapped(self, module: ast.expr) -> tuple[ast.Call, str, bool] | None:
        """What wraps a module, and whether it is always wrapped; ``None`` where nothing is known to."""
        values = list(self._values(module, 0))
        if any(isinstance(value, ast.Attribute) and value.attr in self._wrappings.values() for value in values):
            return None  # where it is wrapped, the name stands for the module within
        wrappers = [value for value in values if isinstance(value, ast.Call) and value in self._wrappings]
        if not wrappers or len({self._wrappings[wrapper] for wrapper in wrappers}) > 1:
            return None
        return wrappers[0], self._wrappings[wrappers[0]], len(wrappers) == len(values)

    def _values(self, node: ast.expr, depth: int) -> Iterator[ast.expr | None]:
        """The expressions that a module may come from, through names, attributes of ``self`` and arguments."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
            node = node.func.value
        if depth >= _DEPTH:
            yield None
        elif isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            if not bindings:
                yield None
            for binding in bindings:
                yield from self._bound(binding, depth + 1)
        elif isinstance(node, ast.Attribute) and (owner := self._semantics.facts.self_class(node.value)) is not None:
            for slot in self._semantics.facts.slots(owner, node.attr):
                for store in slot.stores:
                    parent = self._tree.parent(store)
                    if isinstance(parent, ast.Assign):
                        yield from self._values(parent.value, depth + 1)
                    else:
                        yield None
        elif isinstance(node, ast.IfExp):
            yield from self._values(node.body, depth + 1)
            yield from self._values(node.orelse, depth + 1)
        else:
            yield node

    def _bound(self, binding: Binding, depth: int) -> Iterator[ast.expr | None]:
        function = binding.scope.node
        if binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None:
            yield from self._values(binding.value, depth)
        elif binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
            calls = self._semantics.inference.call_sites(function)
            if not calls:
                yield None
            for call in calls:
                given = self._semantics.facts.argument(call, function, binding.node)
                if given is None:
                    yield None
                else:
                    yield from self._values(given, depth)
        else:
            yield None

    def _is_asked_for(self, module: ast.expr) -> bool:
        """Whether code reads the module within, or asks whether there is one."""
        name = last_name(module)
        place = self._tree.function(module)
        knows = any(last_name(node.value) == name and self._tree.function(node) is place for node in self._within)
        return knows or name in self._tested

    @cached_property
    def _within(self) -> list[ast.Attribute]:
        return [
            node
            for node in self._tree.of_type(ast.Attribute)
            if node.attr in ("module", "_orig_mod")
            and isinstance(self._tree.parent(node), ast.Attribute)
            and isinstance(call := self._tree.parent(self._tree.parent(node) or node), ast.Call)
            and last_name(call.func) == "state_dict"
        ]

    @cached_property
    def _tested(self) -> set[str]:
        """The names of what ``isinstance`` or ``hasattr`` is asked of."""
        calls = [*self._semantics.facts.calls.get("isinstance", ()), *self._semantics.facts.calls.get("hasattr", ())]
        return {last_name(call.args[0]) for call in calls if call.args}

    # --- what becomes of it ------------------------------------------------------------------------------------------

    def _is_saved(self, value: ast.expr, depth: int) -> bool:
        """Whether a value, or a dict that it is put into, is given to what saves."""
        current: ast.AST = value
        while (parent := self._tree.parent(current)) is not None and depth < _DEPTH:
            match parent:
                case ast.keyword() | ast.Dict() | ast.List() | ast.Tuple() | ast.IfExp():
                    current = parent
                case ast.Call() if parent in self._saves or self._saves_by_name(parent):
                    return True
                case ast.Call(func=ast.Name(id="dict" | "OrderedDict")):
                    current = parent
                case ast.Assign(targets=[target]):
                    name = target.value if isinstance(target, ast.Subscript) else target
                    return isinstance(name, ast.Name) and any(
                        self._is_saved(use, depth + 1) for use in self._later_uses(name, target)
                    )
                case _:
                    return False
        return False

    def _later_uses(self, name: ast.Name, target: ast.expr) -> list[ast.Name]:
        bindings = [self._semantics.bindings.of(name)] if name is target else self._semantics.bindings.reaching(name)
        return [use for binding in bindings if binding is not None for use in binding.uses if use is not name]

    def _saves_by_name(self, call: ast.Call) -> bool:
        """Whether a function saves what it is given, by its name: ``save_checkpoint(…)``, ``accelerator.save(…)``."""
        return _SAVING.match(last_name(call.func)) is not None
