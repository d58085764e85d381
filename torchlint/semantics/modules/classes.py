"""Which classes of a file are modules for sure, and where their ``__init__`` has the base class initialised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.definitions import MODULE_BASES
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body

_OWN_ATTRIBUTES = torch_api.MODULE_ONLY | {
    *("add_module", "apply", "children", "load_state_dict", "modules", "parameters", "state_dict", "training"),
}
_FRAMEWORKS = tuple(base for base in MODULE_BASES if not base.startswith("torch."))
_DEEP = 4
"""From how far a method may be called by ``forward``."""
_PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})


class ModuleClasses:
    """Looks at the classes of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._sure: dict[ast.ClassDef, bool] = {}

    def is_sure(self, node: ast.ClassDef) -> bool:
        """Whether a class is a module by its bases, or has a base from elsewhere and all else that makes a module."""
        if node not in self._sure:
            facts = self._semantics.facts
            self._sure[node] = (
                facts.derives_from(node, *MODULE_BASES)
                or self._derives_elsewhere(node)
                or (
                    facts.is_module(node)
                    and (
                        any(self._shows_module(base) for base in facts.bases(node))
                        or not self._foreign_bases(node).isdisjoint(self._shown_bases)
                    )
                )
            )
        return self._sure[node]

    def is_run_by_forward(self, function: Function) -> bool:
        """Whether a method is the ``forward`` of a class that is a module for sure, or one that this calls."""
        tree, facts = self._semantics.tree, self._semantics.facts
        owner = tree.parent(function)
        if not isinstance(owner, ast.ClassDef) or not self.is_sure(owner):
            return False
        seen = {function}
        pending = [function]
        for _ in range(_DEEP):
            if any(each.name == "forward" for each in pending):
                return True
            callers = {tree.function(call) for each in pending for call in facts.call_sites(each)}
            pending = [each for each in callers if isinstance(each, FUNCTIONS) and each not in seen]
            seen.update(pending)
        return False

    def _derives_elsewhere(self, node: ast.ClassDef) -> bool:
        """Whether a class derives from a class of another file of the project that is a module."""
        facts = self._semantics.facts
        outside = (base for each in facts.bases(node) for base in each.bases if facts.definition(base) is None)
        return any(self._semantics.elsewhere.module_class(base) is not None for base in outside)

    def _shows_module(self, node: ast.ClassDef) -> bool:
        return self._uses_modules_own(node) or self._sets_up_modules(node)

    @cached_property
    def _shown_bases(self) -> set[str]:
        """The bases from other files that are modules: one of them is all that a class has whose constructor sets up layers."""
        found = set[str]()
        for node in self._semantics.facts.classes:
            bases = self._foreign_bases(node)
            if len(bases) == 1 and self._sets_up_modules(node):
                found |= bases
        return found

    def _foreign_bases(self, node: ast.ClassDef) -> set[str]:
        """The names of the bases of a class that are of other files, and not known to be none of a module."""
        facts = self._semantics.facts
        outside = [base for each in facts.bases(node) for base in each.bases if facts.definition(base) is None]
        names = {self._semantics.qualified_name(base) or "" for base in outside}
        return {name for name in names if name and name not in _PLAIN_BASES and not name.startswith("builtins.")}

    def _uses_modules_own(self, node: ast.ClassDef) -> bool:
        """Whether a class uses what modules have and does not define it itself."""
        facts = self._semantics.facts.classes[node]
        used = {name for name, slot in facts.slots.items() if slot.uses and not slot.stores}
        return bool(used & _OWN_ATTRIBUTES - facts.methods.keys())

    def _sets_up_modules(self, node: ast.ClassDef) -> bool:
        """Whether a class has its base initialised and then makes layers of torch its attributes."""
        facts = self._semantics.facts.classes[node]
        constructor = facts.methods.get("__init__")
        if constructor is None or next(self.initialising(constructor), None) is None:
            return False
        return any(
            isinstance(part, ast.Assign)
            and any(isinstance(target, ast.Attribute) for target in part.targets)
            and isinstance(part.value, ast.Call)
            and (self._semantics.qualified_name(part.value.func) or "") in torch_api.MODULES
            for part in walk_body(constructor.body)
        )

    def initialising(self, function: Function) -> Iterator[ast.Call]:
        """The calls in a method that have a base class initialised, or may: ``super().__init__()``, ``Base.__init__(self)``.

        Also those of the class's own methods that do so.
        """
        owner = self._semantics.tree.parent(function)
        for part in walk_body(function.body):
            match part:
                case ast.Call(func=ast.Attribute(attr="__init__")):
                    yield part
                case ast.Call(func=ast.Attribute(value=value, attr=name)) if isinstance(owner, ast.ClassDef):
                    if self._semantics.facts.self_class(value) is owner and name != function.name:
                        method = self._semantics.facts.method(owner, name)
                        if method is not None and any(_mentions_init(inner) for inner in walk_body(method.body)):
                            yield part

    def has_known_bases(self, node: ast.ClassDef) -> bool:
        """Whether nothing is known of a class's making but what torch's own modules do: no metaclass but that of abstract
        classes, no unknown base."""
        return all(
            all(self._semantics.qualified_name(word.value) == "abc.ABCMeta" for word in base.keywords)
            and not {"__new__", "__setattr__", "__init_subclass__"} & self._semantics.facts.classes[base].methods.keys()
            and all(self._is_known(part) for part in base.bases)
            for base in self._semantics.facts.bases(node)
        )

    def _is_known(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Subscript):
            return self._semantics.qualified_name(base.value) in _PLAIN_BASES
        if self._semantics.facts.definition(base) is not None:
            return True
        name = self._semantics.qualified_name(base) or ""
        return name in torch_api.MODULES or name in _PLAIN_BASES or name.startswith(_FRAMEWORKS)


def _mentions_init(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__init__"
