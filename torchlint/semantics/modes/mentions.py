"""Which calls and assignments of a scope have to do with a model, by the variable that it is reached from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to, walk_body
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.switches import Switches

_Variable: TypeAlias = tuple[ast.AST, str]
"""The variable that a reference starts from: the scope that binds it, and its name."""


@dataclass(slots=True)
class _Contents:
    """The calls of a scope and what it assigns, by the variables that they have to do with."""

    calls: list[ast.Call] = field(default_factory=list)
    stores: dict[_Variable, list[ast.expr]] = field(default_factory=dict)
    restored: list[ast.expr] = field(default_factory=list)
    """The ``training`` of the modules that a loop goes through."""
    about: dict[_Variable, list[int]] = field(default_factory=dict)
    """The places in ``calls`` of those that name a variable, or something that was given it."""
    about_all: list[int] = field(default_factory=list)
    """Those that may set the mode of any model."""
    callees: dict[Function, list[int]] = field(default_factory=dict)
    """Those that run functions of the file, which may know variables of the scopes around them."""


class Mentions:
    """Looks up what scopes do with the variables of models."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._references = semantics.of(References)
        self._switches = semantics.of(Switches)
        self._contents: dict[FlowScope, _Contents] = {}
        self._knowing: dict[_Variable, set[Function]] = {}

    def calls_in(self, scope: FlowScope) -> list[ast.Call]:
        """The calls that ``scope`` makes itself."""
        return self._contents_of(scope).calls

    def stores_about(self, scope: FlowScope, model: Reference) -> list[ast.expr]:
        """What ``scope`` assigns of the variable of a model, and of its attributes."""
        contents = self._contents_of(scope)
        return [*contents.stores.get(_variable(model), ()), *contents.restored]

    def calls_about(self, scope: FlowScope, model: Reference) -> list[ast.Call]:
        """The calls of ``scope`` that may have to do with a model, in the order of the text."""
        contents = self._contents_of(scope)
        places = {*contents.about.get(_variable(model), ()), *contents.about_all}
        for function in contents.callees.keys() & self.functions_knowing(model):
            places.update(contents.callees[function])
        return [contents.calls[place] for place in sorted(places)]

    def knows(self, scope: FlowScope, model: Reference) -> bool:
        """Whether a scope, or a function that it calls, may have to do with a variable of a scope around it."""
        return scope is model.root or not isinstance(scope, FUNCTIONS) or scope in self.functions_knowing(model)

    def functions_knowing(self, model: Reference) -> set[Function]:
        """The functions that have to do with the variable of a model, by themselves or by what they call."""
        variable = _variable(model)
        if variable not in self._knowing:
            found = self._knowing[variable] = set[Function]()
            pending = [*self._functions_naming.get(variable, ()), *self._functions_about_all]
            while pending:
                function = pending.pop()
                if function not in found:
                    found.add(function)
                    pending += self._callers.get(function, ())
        return self._knowing[variable]

    @cached_property
    def functions(self) -> dict[Function, int]:
        """The functions of the file, numbered in the order of the text."""
        functions = (node for node in self._semantics.tree.nodes if isinstance(node, FUNCTIONS))
        return {function: number for number, function in enumerate(functions)}

    @cached_property
    def _functions_naming(self) -> dict[_Variable, list[Function]]:
        found: dict[_Variable, list[Function]] = {}
        for function in self.functions:
            contents = self._contents_of(function)
            for variable in contents.about.keys() | contents.stores.keys():
                found.setdefault(variable, []).append(function)
        return found

    @cached_property
    def _functions_about_all(self) -> list[Function]:
        return [function for function in self.functions if self._contents_of(function).about_all]

    @cached_property
    def _callers(self) -> dict[Function, list[Function]]:
        """For each function, those that call it."""
        found: dict[Function, list[Function]] = {}
        for caller in self.functions:
            for function in self._contents_of(caller).callees:
                found.setdefault(function, []).append(caller)
        return found

    def _contents_of(self, scope: FlowScope) -> _Contents:
        """The calls of a scope and what it assigns."""
        if scope not in self._contents:
            self._contents[scope] = contents = _Contents()
            for part in walk_body([part for part in scope.body if not isinstance(part, (*FUNCTIONS, ast.ClassDef))]):
                if isinstance(part, ast.Call):
                    self._add_call(contents, part)
                elif isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
                    owner = self._references.of(part.value) if isinstance(part, ast.Attribute) else None
                    about = (owner, self._references.rebound(part))
                    if isinstance(part, ast.Attribute) and part.attr == "training" and self._switches.looped_over(part.value):
                        contents.restored.append(part)
                    for variable in {_variable(found) for found in about if found is not None}:
                        contents.stores.setdefault(variable, []).append(part)
        return self._contents[scope]

    def _add_call(self, contents: _Contents, call: ast.Call) -> None:
        place = len(contents.calls)
        contents.calls.append(call)
        models, _ = switch = self._switches.of_call.get(call, ((), None))
        if models is None or call in self._switches.unclear or (switch[1] is not None and self._switches.is_of_items(call)):
            contents.about_all.append(place)
        elif switch[1] is None and (function := self._references.callee(call)) is not None:
            contents.callees.setdefault(function, []).append(place)
        for variable in {_variable(found) for found in (*(models or ()), *self._named_in(call))}:
            contents.about.setdefault(variable, []).append(place)

    def _named_in(self, call: ast.Call) -> Iterator[Reference]:
        """What a call is of, what it is handed, and what the object was given when it was made whose method it is."""
        for argument in given_to(call):
            if (found := self._references.of(argument)) is not None:
                yield found
        yield from self._switches.handed_over(call)
        if (called := self._references.of(call.func)) is not None:
            yield called
            yield from self._switches.held(call.func)


def _variable(reference: Reference) -> _Variable:
    return reference.root, reference.path[0]
