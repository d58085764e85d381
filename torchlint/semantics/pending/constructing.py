"""What a constructor changes of the parts that it has just made, before anything was computed with them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.pending.fresh import Fresh
from torchlint.semantics.pending.untouched import HANDS_ON, Untouched

_TORCH = ("torch.nn.",)


class Constructing:
    """Tells of tensors that are parts of what a constructor makes whether nothing was computed with them yet."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._callers = semantics.of(Callers)
        self._untouched = semantics.of(Untouched)
        self._made: dict[Binding, bool] = {}
        self._asked: set[Binding] = set()
        """The names that are being asked for, and those of them, in ``_open``, that were met again."""
        self._open: set[Binding] = set()

    def fact(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether ``tensor``, where it is changed at ``place``, is part of a module whose constructor runs.

        The module runs no part of itself while it is made, and all its parts are made there: each is the result of a call,
        and none an argument of the constructor. Nothing else knows them yet.
        """
        function = self._tree.function(place)
        leads: dict[Function, list[ast.AST]] = {}
        constructors = self._constructors(function, place, leads) if isinstance(function, FUNCTIONS) else None
        if not constructors or not self._is_own(tensor, set()):
            return unknown("a backward that has saved the old values may still follow")
        owners = [owner for each in constructors if isinstance(owner := self._tree.parent(each), ast.ClassDef)]
        doubt, run = self._untouched.look(place, leads, owners)
        doubts = (self._doubt(owner, self._root(tensor), run) for owner in owners)
        doubt = doubt or next(filter(None, doubts), "")
        return unknown(doubt) if doubt else CERTAIN

    # --- who constructs ----------------------------------------------------------------------------------------------

    def _constructors(self, function: Function, place: ast.AST, leads: dict[Function, list[ast.AST]]) -> set[Function] | None:
        """The constructors that lead to ``place`` in a function, all in sight; ``None`` where something else may run it.

        ``leads`` is given the functions on the way, each with what leads there.
        """
        if function in leads:
            leads[function].append(place)
            return set()
        leads[function] = [place]
        owner = self._tree.parent(function)
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            return {function} if self._facts.is_module(owner) else None
        if not self._callers.fact(function).is_certain:
            return None
        found: set[Function] = set()
        for call in self._callers.calls(function):
            around = self._tree.function(call)
            more = self._constructors(around, call, leads) if isinstance(around, FUNCTIONS) else None
            if more is None:
                return None
            found |= more
        return found

    def _is_own(self, node: ast.expr, seen: set[Binding]) -> bool:
        """Whether a value in a constructor, or in what it runs, is the object, a part of it, or made there."""
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self._is_own(inner, seen)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in HANDS_ON:
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

    def _doubt(self, owner: ast.ClassDef, root: str, run: set[Function]) -> str:
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
            return binding.path != () or self._is_assigned_made(binding, binding.value)
        return binding.form in (Form.LOOP, Form.FUNCTION, Form.CLASS)

    def _is_assigned_made(self, binding: Binding, value: ast.expr) -> bool:
        """The same of what a name is assigned, perhaps made of itself in a loop: that tells what it was before."""
        if binding in self._made:
            return self._made[binding]
        if binding in self._asked:
            self._open.add(binding)
            return True
        self._asked.add(binding)
        is_made = self._is_made(value)
        self._asked.remove(binding)
        self._open.discard(binding)
        if not self._open:  # else it rests on a name that is being asked for
            self._made[binding] = is_made
        return is_made

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
            case ast.Attribute(attr=attribute) if attribute in HANDS_ON:
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
                return attribute in HANDS_ON or attribute in ("weight", "bias", "data", "forward")
        return False


def _given(
    argument: Callable[[ast.Call, Function, ast.arg], ast.expr | None], call: ast.Call, function: Function, parameter: ast.arg
) -> ast.expr | None:
    """What a call gives for a parameter; ``model.apply(function)`` gives parts of the model."""
    match call.func:
        case ast.Attribute(value=model, attr="apply") if function.name != "apply":
            return model
    return argument(call, function, parameter)
