"""Which functions of the file a call runs, and which calls run a function."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.kinds.questions import Kinds


class CallGraph:
    """Looks up calls of the file's functions and methods."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._tree = kinds.code.tree
        self._definitions = kinds.code.definitions
        self._sites: dict[Function, list[ast.Call]] = {}
        self._instance_calls: dict[str, dict[Function, list[ast.Call]]] = {}

    def called(self, call: ast.Call) -> Function | None:
        """The function or method of the file that a call runs, if it is certain: of a class, its constructor."""
        found = self._definitions.definition(call.func)
        if isinstance(found, ast.ClassDef):
            return self._definitions.method(found, "__init__")
        if isinstance(found, FUNCTIONS):
            return found
        if isinstance(call.func, ast.Attribute):
            definition = self._kinds.kind(call.func.value).definition
            if isinstance(definition, ast.ClassDef):
                return self._definitions.method(definition, call.func.attr)
        return None

    def sites(self, function: Function) -> list[ast.Call]:
        """The calls in the file that surely are of ``function``: by its name, on ``self``, or on an instance of its class."""
        if function not in self._sites:
            self._sites[function] = self._definitions.call_sites(function)  # while the receivers are looked at
            owner = self._tree.parent(function)
            if isinstance(owner, ast.ClassDef) and not function.name.startswith("__"):
                others = self._calls_on_instances(function.name).get(function, ())
                self._sites[function] = list(dict.fromkeys([*self._sites[function], *others]))
        return self._sites[function]

    def _calls_on_instances(self, name: str) -> dict[Function, list[ast.Call]]:
        """The calls of methods of that name on what is known to be an instance of a class of the file, by the method."""
        if name not in self._instance_calls:
            self._instance_calls[name] = {}  # while the receivers are looked at
            found: dict[Function, list[ast.Call]] = {}
            for call in self._definitions.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute):
                    definition = self._kinds.kind(call.func.value).definition
                    method = self._definitions.method(definition, name) if isinstance(definition, ast.ClassDef) else None
                    if method is not None:
                        found.setdefault(method, []).append(call)
            self._instance_calls[name] = found
        return self._instance_calls[name]
