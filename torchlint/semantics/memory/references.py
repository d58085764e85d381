"""Which variable, or attribute of one, an expression refers to: through aliases and wrappers, and across calls in the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import is_class_method, is_static
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name, walk_body

_RETURN_THE_MODULE = frozenset(
    {
        *("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "apply", "requires_grad_"),
        *("share_memory", "type"),
    }
)
"""Methods of a module that return the module itself."""
_WRAPPERS = frozenset(
    {
        *("DataParallel", "DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel", "compile", "fully_shard"),
        *("unwrap_model", "prepare", "prepare_model", "setup", "setup_module", "initialize"),
    }
)
"""What gives back its first argument, or each of them, wrapped: setting the mode of the one sets that of the other."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A variable, or an attribute that is reached from one: the scope that binds the variable, and the names that lead on."""

    root: ast.AST
    path: tuple[str, ...]

    def holds(self, other: Reference) -> bool:
        """Whether ``other`` is this, or a part of it."""
        return self.root is other.root and other.path[: len(self.path)] == self.path

    @property
    def is_given(self) -> bool:
        """Whether the variable is a parameter of the function that binds it."""
        if not isinstance(self.root, FUNCTIONS):
            return False
        given = self.root.args
        return self.path[0] in {parameter.arg for parameter in [*given.posonlyargs, *given.args, *given.kwonlyargs]}

    def part(self, *names: str) -> Reference:
        """What attributes of it refer to."""
        return Reference(self.root, (*self.path, *names))


class References:
    """Resolves expressions to references."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._facts = semantics.facts
        self._inference = semantics.inference
        self._aliases: dict[Binding, Reference | None] = {}
        self._callees: dict[ast.Call, Function | None] = {}
        self._results: dict[tuple[Function, int | None], Reference | None] = {}
        self._found: dict[ast.expr, Reference | None] = {}

    def of(self, node: ast.expr) -> Reference | None:
        """What ``node`` refers to: ``model``, ``self.model``, ``model.module``, ``model.cuda()``, ``DataParallel(model)``,
        ``models["generator"]``.
        """
        if node not in self._found:
            self._found[node] = self._find(node)
        return self._found[node]

    def _find(self, node: ast.expr) -> Reference | None:
        match node:
            case ast.Name():
                return self._variable(node)
            case ast.Attribute(value=value, attr=name):
                base = self.of(value)
                return base if base is None or name == "module" else base.part(name)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)):
                base = self.of(value)
                return base.part(f"[{key!r}]") if base is not None else None
            case ast.Call():
                return self._returned(node)
        return None

    def all_of(self, node: ast.expr) -> list[Reference] | None:
        """What ``node`` refers to: each in turn for the variable of a loop over written-out things; ``None`` if not known."""
        if isinstance(node, ast.Name):
            bindings = self._bindings.reaching(node)
            if bindings and all(binding.form is Form.LOOP for binding in bindings):
                collection = self.any_item(node)
                return [collection] if collection is not None else self._looped(bindings)
        found = self.any_item(node) or self.of(node)
        return None if found is None else [found]

    def any_item(self, node: ast.expr) -> Reference | None:
        """The dict whose items ``node`` refers to in turn, where a loop goes through it: other variables may hold them, too."""
        if isinstance(node, ast.Name):
            bindings = self._bindings.reaching(node)
            return self._gone_through(bindings, ("values",)) or self._gone_through(bindings, ("items",))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
            collection = self.of(node.value)
            if collection is not None and self._gone_through(self._bindings.reaching(node.slice), ("keys",)) == collection:
                return collection
        return None

    def elements(self, node: ast.expr) -> list[Reference]:
        """What the items of a written-out list, tuple or dict refer to, or ``node`` itself."""
        return list(self._elements(node, set()))

    def _elements(self, node: ast.expr, seen: set[ast.expr]) -> Iterator[Reference]:
        """The elements of ``node``; each of the displays in ``seen``, to which this one is added, is gone through once."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) | ast.Dict(values=items):
                if node not in seen:
                    seen.add(node)
                    for item in items:
                        yield from self._elements(item, seen)
                return
            case ast.Starred(value=value):
                yield from self._elements(value, seen)
                return
            case ast.Name():
                bindings = self._bindings.reaching(node)
                if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT and not bindings[0].path:
                    if isinstance(display := bindings[0].value, (ast.Tuple, ast.List, ast.Dict)):
                        yield from self._elements(display, seen)
                        return
        if (found := self.of(node)) is not None:
            yield found

    def rebound(self, target: ast.expr) -> Reference | None:
        """What an assignment to ``target`` gives another value; ``None`` where it is the same one, perhaps wrapped."""
        found = None
        if isinstance(target, ast.Name) and (binding := self._bindings.of(target)) is not None:
            found = Reference(binding.scope.node, (target.id,))
            return None if self._alias(binding) == found else found
        if isinstance(target, ast.Subscript):
            return self.of(target)
        if isinstance(target, ast.Attribute) and (base := self.of(target.value)) is not None:
            found = base.part(target.attr)
            statement = self._tree.parent(target)
            if isinstance(statement, ast.Assign) and self.of(statement.value) == found:
                return None
        return found

    # --- calls -------------------------------------------------------------------------------------------------------

    def callee(self, call: ast.Call) -> Function | None:
        """The function of the file that ``call`` runs: by its name, as a method, or as the ``__init__`` of a class."""
        if call not in self._callees:
            self._callees[call] = None
            self._callees[call] = self._find_callee(call)
        return self._callees[call]

    def _find_callee(self, call: ast.Call) -> Function | None:
        if isinstance(call.func, ast.Name):
            found = self._facts.definition(call.func)
            return self._facts.method(found, "__init__") if isinstance(found, ast.ClassDef) else found
        if not isinstance(call.func, ast.Attribute):
            return None
        name = call.func.attr
        if name not in self._facts.method_names:
            return None
        owner = self._facts.self_class(call.func.value)
        definition = owner if owner is not None else self._inference.kind(call.func.value).definition
        return self._facts.method(definition, name) if isinstance(definition, ast.ClassDef) else None

    def handed(self, reference: Reference, call: ast.Call, function: Function) -> Iterator[Reference]:
        """What ``reference`` is called within ``function``, where ``call`` runs that: its parameters, ``self``, outer names."""
        if reference.root is self._tree.module or self._tree.inside(function, reference.root):
            yield reference
        for parameter, argument in self._arguments(call, function):
            found = self.of(argument)
            if found is not None and found.holds(reference):
                yield Reference(function, (parameter.arg, *reference.path[len(found.path) :]))

    def parameter(self, call: ast.Call, function: Function, argument: ast.expr) -> ast.arg | None:
        """The parameter of ``function`` that gets ``argument`` where ``call`` runs it."""
        return next((parameter for parameter, given in self._arguments(call, function) if given is argument), None)

    def _arguments(self, call: ast.Call, function: Function) -> Iterator[tuple[ast.arg, ast.expr]]:
        parameters = [*function.args.posonlyargs, *function.args.args]
        is_method = isinstance(self._tree.parent(function), ast.ClassDef) and not is_static(function)
        if is_method and parameters:
            first = parameters.pop(0)
            if isinstance(call.func, ast.Attribute) and not is_class_method(function):
                yield first, call.func.value
        for parameter, argument in zip(parameters, call.args):
            if isinstance(argument, ast.Starred):
                break
            yield parameter, argument
        named = {parameter.arg: parameter for parameter in [*parameters, *function.args.kwonlyargs]}
        for keyword in call.keywords:
            if keyword.arg in named:
                yield named[keyword.arg], keyword.value

    # --- variables ---------------------------------------------------------------------------------------------------

    def _variable(self, name: ast.Name) -> Reference:
        bindings = self._bindings.reaching(name)
        if not bindings:
            own = self._bindings.of(name)
            return Reference(own.scope.node if own is not None else self._tree.module, (name.id,))
        aliases = {self._alias(binding) for binding in bindings}  # in both branches, say
        if len(aliases) == 1 and (alias := aliases.pop()) is not None:
            return alias
        return Reference(bindings[0].scope.node, (name.id,))

    def _alias(self, binding: Binding) -> Reference | None:
        """What the value of a binding refers to, where it is another reference."""
        if binding not in self._aliases:
            self._aliases[binding] = None
            if binding.form is Form.ASSIGNMENT and binding.value is not None:
                self._aliases[binding] = self._unpacked(binding.value, binding.path)
        return self._aliases[binding]

    def _unpacked(self, value: ast.expr, path: tuple[int | None, ...]) -> Reference | None:
        if not path:
            return self.of(value)
        index = path[0]
        if len(path) > 1 or index is None:
            return None
        if isinstance(value, ast.Call) and last_name(value.func) in _WRAPPERS and index < len(value.args):
            return self.of(value.args[index])
        if isinstance(value, ast.Tuple) and index < len(value.elts):
            return self.of(value.elts[index])
        return self._given_back(value, index) if isinstance(value, ast.Call) else None

    def _given_back(self, call: ast.Call, index: int | None) -> Reference | None:
        """What a call gives to one of the file's functions that returns it, or returns it at an ``index`` of a tuple."""
        function = self.callee(call)
        found = self.returned(function, index) if function is not None else None
        if function is None or found is None or not found.is_given or len(found.path) > 1:
            return None
        arguments = self._arguments(call, function)
        return next((self.of(given) for parameter, given in arguments if parameter.arg == found.path[0]), None)

    def returned(self, function: Function, index: int | None) -> Reference | None:
        """What of its own a function returns on every path, perhaps wrapped, or at an ``index`` of a tuple."""
        key = (function, index)
        if key not in self._results:
            self._results[key] = None
            parts = list(walk_body(function.body))
            is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
            if is_plain and not any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
                values = [part.value for part in parts if isinstance(part, ast.Return)]
                found = {self._result(value, index) for value in values}
                result = found.pop() if len(found) == 1 else None
                self._results[key] = result if result is not None and result.root is function else None
        return self._results[key]

    def _result(self, value: ast.expr | None, index: int | None) -> Reference | None:
        if index is not None:
            value = value.elts[index] if isinstance(value, ast.Tuple) and index < len(value.elts) else None
        return self.of(value) if value is not None else None

    def _returned(self, call: ast.Call) -> Reference | None:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _RETURN_THE_MODULE:
            return self.of(call.func.value)
        if last_name(call.func) in _WRAPPERS and call.args and not isinstance(call.args[0], ast.Starred):
            return self.of(call.args[0])
        return self._given_back(call, None)

    def _looped(self, bindings: tuple[Binding, ...]) -> list[Reference] | None:
        if len(bindings) != 1 or bindings[0].path or bindings[0].value is None:
            return None
        value = bindings[0].value
        if isinstance(value, ast.Name):
            behind = self._bindings.reaching(value)
            if len(behind) == 1 and behind[0].form is Form.ASSIGNMENT and not behind[0].path and behind[0].value is not None:
                value = behind[0].value
        if not isinstance(value, (ast.Tuple, ast.List)):
            return None
        found = [self.of(item) for item in value.elts]
        return None if None in found else [reference for reference in found if reference is not None]

    def _gone_through(self, bindings: tuple[Binding, ...], methods: tuple[str, ...]) -> Reference | None:
        """The dict that the variable of a loop goes through: its ``keys``, ``values``, or the second of its ``items``."""
        if len(bindings) != 1 or bindings[0].form is not Form.LOOP or bindings[0].value is None:
            return None
        value, path = bindings[0].value, bindings[0].path
        match value:
            case ast.Call(func=ast.Attribute(value=collection, attr=name), args=[]) if name in methods:
                return self.of(collection) if path == ((1,) if name == "items" else ()) else None
            case ast.Name() | ast.Attribute() if "keys" in methods and not path:
                return self.of(value)
        return None
