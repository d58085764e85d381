"""What a constructor changes of the parts that it has just made, before anything was computed with them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.callers import Callers
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.pending.fresh import Fresh

_PARTS = frozenset(
    {
        *("modules", "named_modules", "children", "named_children", "parameters", "named_parameters", "apply", "items"),
        *("values", "keys", "append", "extend", "add_module", "register_buffer", "register_parameter", "to", "train", "eval"),
        *("size", "dim", "numel", "requires_grad_", "find", "insert", "get", "named_buffers", "buffers", "lower", "index"),
    }
)
"""Methods of modules, of lists and of names that run no model."""
_TORCH = ("torch.nn.",)


class Constructing:
    """Tells of tensors that are parts of what a constructor makes whether nothing was computed with them yet."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._callers = semantics.of(Callers)

    def fact(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether ``tensor``, where it is changed at ``place``, is part of a module whose constructor runs.

        The module runs no part of itself while it is made, and all its parts are made there: each is the result of a call,
        and none an argument of the constructor. Nothing else knows them yet.
        """
        function = self._tree.function(place)
        constructors = self._constructors(function, set()) if isinstance(function, FUNCTIONS) else None
        if not constructors or not self._is_own(tensor, set()):
            return unknown("a backward that has saved the old values may still follow")
        for constructor in constructors:
            doubt = self._doubt(constructor, self._root(tensor))
            if doubt:
                return unknown(doubt)
        return CERTAIN

    # --- who constructs ----------------------------------------------------------------------------------------------

    def _constructors(self, function: Function, seen: set[Function]) -> set[Function] | None:
        """The constructors that a function is run by, all in sight; ``None`` where something else may run it."""
        if function in seen:
            return set()
        seen.add(function)
        owner = self._tree.parent(function)
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            return {function} if self._facts.is_module(owner) else None
        if not self._callers.fact(function).is_certain:
            return None
        found: set[Function] = set()
        for call in self._callers.calls(function):
            around = self._tree.function(call)
            more = self._constructors(around, seen) if isinstance(around, FUNCTIONS) else None
            if more is None:
                return None
            found |= more
        return found

    def _is_own(self, node: ast.expr, seen: set[Binding]) -> bool:
        """Whether a value in a constructor, or in what it runs, is the object, a part of it, or made there."""
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self._is_own(inner, seen)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _PARTS:
                return self._is_own(inner, seen)
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "list" | "reversed"), args=[*parts]):
                return all(self._is_own(part, seen) for part in parts)
            case ast.Call(func=function):
                return (self._semantics.qualified_name(function) or "").startswith("torch.nn.") and self._is_made(node)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self._is_own(part, seen) for part in parts)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                is_self = self._facts.self_class(node) is not None
                return is_self or (bool(bindings) and all(self._is_bound_to_own(each, seen) for each in bindings))
        return isinstance(node, ast.Constant)

    def _is_bound_to_own(self, binding: Binding, seen: set[Binding]) -> bool:
        if binding in seen:
            return True
        seen.add(binding)
        function = binding.scope.node
        if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
            if function.name == "__init__" or not self._callers.fact(function).is_certain:
                return False
            given = [_given(self._facts.argument, call, function, binding.node) for call in self._callers.calls(function)]
            return all(value is not None and self._is_own(value, seen) for value in given)
        if binding.form not in (Form.ASSIGNMENT, Form.LOOP) or binding.value is None or isinstance(function, ast.Module):
            return False
        return self._is_own(binding.value, seen)

    # --- what it makes -----------------------------------------------------------------------------------------------

    def _root(self, tensor: ast.expr) -> str:
        """The attribute of ``self`` that a tensor is part of; empty where it may be part of any."""
        chain = ""
        while isinstance(tensor, (ast.Attribute, ast.Subscript)):
            chain = tensor.attr if isinstance(tensor, ast.Attribute) else chain
            tensor = tensor.value
        return chain if self._facts.self_class(tensor) is not None else ""

    def _doubt(self, constructor: Function, root: str) -> str:
        owner = self._tree.parent(constructor)
        assert isinstance(owner, ast.ClassDef)
        run: set[Function] = set()
        for base in self._facts.bases(owner):
            first = self._facts.classes[base].methods.get("__init__")
            for call in self._runs(first, owner, run) if first is not None else ():
                return f"`{shortened(call.func)}` is run in the constructor"
        root = "" if self._facts.method(owner, root) is not None else root
        stores = list(self._stores(owner, run))
        for store, value in stores:
            if root in ("", store.attr) and not self._is_made(value):
                return f"`{shortened(store)}` may be shared with what is computed outside"
        if root and not any(store.attr == root for store, _ in stores) and not self._facts.derives_from(owner, *_TORCH):
            return f"`self.{root}` is made elsewhere"
        return ""

    def _stores(self, owner: ast.ClassDef, run: set[Function]) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
        """What a constructor stores in attributes of ``self``, in the methods that it runs."""
        for base in self._facts.bases(owner):
            for slot in self._facts.classes[base].slots.values():
                for store in slot.stores:
                    statement = self._tree.statement(store)
                    value = getattr(statement, "value", None)
                    if self._tree.function(store) in run and not isinstance(statement, ast.AugAssign):
                        yield store, value if isinstance(value, ast.expr) else None

    def _is_made(self, value: ast.expr | None) -> bool:
        """Whether a value is made where it is stored: no module or tensor that was there before."""
        match value:
            case None:
                return False
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return all(self._is_bound_to_made(binding) for binding in bindings)
            case ast.Call(func=function, args=arguments, keywords=words):
                name = self._semantics.qualified_name(function) or ""
                if name.endswith(".from_pretrained") and name.startswith("torch."):
                    return False
                keeps = name.startswith("torch.nn.") or name in ("builtins.list", "builtins.dict", "builtins.tuple")
                given = [*arguments, *(word.value for word in words)]
                if name == "torch.nn.Parameter":
                    return all(isinstance(each, ast.Constant) or self._semantics.of(Fresh).is_new(each) for each in given)
                return not keeps or all(self._is_made(each) for each in given)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_made(body) and self._is_made(orelse)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts) | ast.BoolOp(values=parts):
                return all(self._is_made(part) for part in parts)
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.Starred(value=part):
                return self._is_made(part)
        return True  # a number, a string, or a part of what is stored and looked at elsewhere

    def _is_bound_to_made(self, binding: Binding) -> bool:
        if binding.form is Form.PARAMETER:
            return not self._is_run_or_kept(binding)
        if binding.form in (Form.ASSIGNMENT, Form.AUGMENTED) and binding.value is not None:
            return binding.path != () or self._is_made(binding.value)
        return binding.form in (Form.LOOP, Form.FUNCTION, Form.CLASS)

    def _is_run_or_kept(self, parameter: Binding) -> bool:
        """Whether an argument may be a module: it is stored and later run, or asked for its parts, or put into a container."""
        if parameter.annotation is not None and ast.unparse(parameter.annotation) in ("int", "float", "str", "bool"):
            return False
        return any(self._is_module(use) for use in parameter.uses)

    def _is_module(self, use: ast.expr) -> bool:
        parent = self._tree.parent(use)
        match parent:
            case ast.Call(func=function) if function is use:
                return False  # a class or a function that makes something
            case ast.Attribute(attr=attribute) if attribute in _PARTS:
                return True
            case ast.Starred() | ast.List() | ast.Tuple():
                return self._is_module(parent)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return name in ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Parameter")
            case ast.Assign(targets=[ast.Attribute() as target]):
                owner = self._facts.self_class(target.value)
                slots = self._facts.slots(owner, target.attr) if owner is not None else []
                return any(self._is_used_as_module(each) for slot in slots for each in slot.uses)
        return False

    def _is_used_as_module(self, use: ast.expr) -> bool:
        parent = self._tree.parent(use)
        match parent:
            case ast.Call(func=function) if function is use:
                return True
            case ast.Attribute(attr=attribute):
                return attribute in _PARTS or attribute in ("weight", "bias", "data", "forward")
        return False

    # --- what it runs ------------------------------------------------------------------------------------------------

    def _runs(self, function: Function, owner: ast.ClassDef, seen: set[Function]) -> Iterator[ast.Call]:
        """The calls in a constructor, and in the methods that it runs, which may run the module or a part of it."""
        if function in seen:
            return
        seen.add(function)
        for part in walk_body(function.body):
            if not isinstance(part, ast.Call):
                continue
            if any(self._facts.self_class(each) is not None for each in part.args) and not _finds_base(part.func):
                yield part
            match part.func:
                case ast.Attribute(value=receiver, attr=name) if self._facts.self_class(receiver) is not None:
                    method = self._facts.method(owner, name)
                    if method is not None and name != "forward":
                        yield from self._runs(method, owner, seen)
                    elif name == "forward" or (name not in _PARTS and any(s.stores for s in self._facts.slots(owner, name))):
                        yield part
                case ast.Attribute(value=receiver, attr="forward" | "__call__"):
                    yield part
                case ast.Name() if self._semantics.kind(part.func).type is Type.MODULE:
                    yield part
                case ast.Call() | ast.Subscript():
                    yield part


def _finds_base(function: ast.expr) -> bool:
    """Whether a function is ``super``, or the constructor of a base."""
    return (isinstance(function, ast.Name) and function.id == "super") or (
        isinstance(function, ast.Attribute) and function.attr == "__init__"
    )


def _given(
    argument: Callable[[ast.Call, Function, ast.arg], ast.expr | None], call: ast.Call, function: Function, parameter: ast.arg
) -> ast.expr | None:
    """What a call gives for a parameter; ``model.apply(function)`` gives parts of the model."""
    match call.func:
        case ast.Attribute(value=model, attr="apply") if function.name != "apply":
            return model
    return argument(call, function, parameter)
