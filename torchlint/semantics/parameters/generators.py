"""Generators of parameters, and what takes all that they give: a loop, an optimizer, a function that clips gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function

LISTING = ("parameters", "named_parameters", "buffers", "named_buffers")
"""Methods of modules that give a generator of tensors."""
_LAZY = frozenset({"builtins.filter", "builtins.map", "builtins.zip", "builtins.enumerate", "itertools.chain"})
"""What gives an iterator over the items of what it is given."""
_BESIDE = frozenset({"builtins.zip", "builtins.map"})
"""Of these, what goes through several things side by side."""
_ASKING = frozenset({"builtins.filter", "builtins.map"})
"""Of these, what calls a function with each item."""
_TAKING = {
    "torch.nn.utils.clip_grad_norm_": (0, "parameters"),
    "torch.nn.utils.clip_grad_norm": (0, "parameters"),
    "torch.nn.utils.clip_grad_value_": (0, "parameters"),
    "torch.nn.utils.clip_grads_with_norm_": (0, "parameters"),
    "torch.nn.utils.get_total_norm": (0, "tensors"),
    "torch.nn.utils.parameters_to_vector": (0, "parameters"),
    "torch.nn.utils.vector_to_parameters": (1, "parameters"),
    "torch.autograd.grad": (1, "inputs"),
    **{name: (0, "params") for name in torch_api.OPTIMIZERS},
}
"""What takes all that a generator gives, and as which argument; each was run with one on torch 2.13."""
_BUILTINS = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sum", "max", "min", "sorted", "dict")
)
"""Functions that take all that they are given: not `any` and `all`, which stop early."""


class Generators:
    """Tells the generators of parameters in one file, and what uses them up."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts

    # --- what is a generator -----------------------------------------------------------------------------------------

    def made(self) -> Iterator[ast.expr]:
        """The expressions that make a generator of parameters, each with all that is laid around it."""
        found: dict[ast.expr, None] = {}
        for name in LISTING:
            for call in self._facts.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute):
                    whole = self._whole(call)
                    if whole is not call or self._is_generator(call, call.func.value, name):
                        found[whole] = None
        return iter(found)

    def _is_generator(self, call: ast.Call, owner: ast.expr, name: str) -> bool:
        """Whether a method gives a generator: that of a module, and not another one of a class of the file."""
        own = self._facts.self_class(owner)
        if own is None:
            kind = self._semantics.kind(owner)
            if kind.type not in (Type.MODULE, Type.UNKNOWN, Type.INSTANCE):
                return False
            if not isinstance(kind.definition, ast.ClassDef):
                if self._has_own(owner, name):
                    return False
                return kind.type is Type.MODULE or (kind.type is Type.UNKNOWN and not call.args)
            own = kind.definition
        if (method := self._facts.method(own, name)) is None:
            return self._facts.is_module(own)
        returned = self._facts.returned(method)
        return bool(returned) and all(isinstance(value, ast.GeneratorExp) for value in returned)

    def _has_own(self, owner: ast.expr, name: str) -> bool:
        """Whether a class of another file that an object may be of has such a method itself, which may give a list."""
        bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        values = [each.value for each in bindings if not each.path]
        holder = self._facts.self_class(owner.value) if isinstance(owner, ast.Attribute) else None
        if isinstance(owner, ast.Attribute) and holder is not None:
            stores = [store for slot in self._facts.slots(holder, owner.attr) for store in slot.stores]
            values += [parent.value for store in stores if isinstance(parent := self._tree.parent(store), ast.Assign)]
        made = [value.func for value in values if isinstance(value, ast.Call)]
        found = [*self._semantics.kind(owner).classes_elsewhere, *map(self._semantics.elsewhere.target, made)]
        return any(self._semantics.elsewhere.has_method(each, name) for each in found)

    def _whole(self, call: ast.expr) -> ast.expr:
        """``filter(keep, chain(a.parameters(), b.parameters()))`` for one of the calls in it."""
        current = call
        while True:
            parent = self._tree.parent(current)
            match parent:
                case ast.Call(func=function, args=arguments) if current in arguments and self._is_lazy(function):
                    current = parent
                case ast.comprehension(iter=iterated):
                    owner = self._tree.parent(parent)
                    if not isinstance(owner, ast.GeneratorExp) or owner.generators[0].iter is not iterated:
                        return current
                    current = owner
                case _:
                    return current

    def _is_lazy(self, function: ast.expr) -> bool:
        return self._semantics.qualified_name(function) in _LAZY

    # --- what uses it up ---------------------------------------------------------------------------------------------

    def taker(self, use: ast.expr) -> ast.AST | None:
        """The loop, comprehension or call that takes all that a generator gives; ``None`` where that is not known."""
        current: ast.AST = self._whole(use)
        parent = self._tree.parent(current)
        match parent:
            case ast.For(iter=iterated, body=body) if iterated is current:
                return None if self._is_left(parent, body) else parent
            case ast.comprehension(iter=iterated) if iterated is current:
                owner = self._tree.parent(parent)
                return owner if isinstance(owner, (ast.ListComp, ast.SetComp, ast.DictComp)) else None
            case ast.Starred() if isinstance(self._tree.parent(parent), (ast.List, ast.Tuple, ast.Set)):
                return self._tree.parent(parent)
        return self._taking_call(current)

    def _taking_call(self, given: ast.AST) -> ast.Call | None:
        """The call that takes all of what it is given, by itself or as the ``params`` of a group."""
        parent = self._tree.parent(given)
        word = ""
        if isinstance(parent, ast.Dict):
            is_group = any(
                isinstance(key, ast.Constant) and key.value == "params" and value is given
                for key, value in zip(parent.keys, parent.values, strict=True)
            )
            outer = self._tree.parent(parent)
            if not is_group or not isinstance(outer, ast.List):
                return None
            given, parent = outer, self._tree.parent(outer)
            call = self._taking_call(given)
            return call if call is not None and self.is_optimizer(call) else None
        if isinstance(parent, ast.keyword):
            word, given, parent = parent.arg or "", parent, self._tree.parent(parent)
        if not isinstance(parent, ast.Call) or given is parent.func:
            return None
        name = self._semantics.qualified_name(parent.func) or ""
        if name in _BUILTINS:
            return parent if parent.args[:1] == [given] else None
        place, keyword = _TAKING.get(name, (0, "params") if self._semantics.kind(parent).type is Type.OPTIMIZER else (-1, ""))
        if word:
            return parent if word == keyword else None
        return parent if 0 <= place < len(parent.args) and parent.args[place] is given else None

    def is_zipped(self, use: ast.expr, other: ast.AST | None = None) -> bool:
        """Whether a generator is gone through beside something else, which may end first, or beside the use ``other``."""
        current: ast.AST = use
        while (
            isinstance(parent := self._tree.parent(current), ast.Call) and current in parent.args and self._is_lazy(parent.func)
        ):
            name = self._semantics.qualified_name(parent.func)
            beside = [each for each in parent.args[name == "builtins.map" :] if each is not current]
            if name in _BESIDE and (beside if other is None else any(self._tree.inside(other, each) for each in beside)):
                return True
            current = parent
        return False

    def asks_of_each(self, made: ast.expr) -> bool:
        """Whether a generator works out something of each parameter when it gives it: ``(p for p in … if p.requires_grad)``."""
        for part in ast.walk(made):
            match part:
                case ast.comprehension(ifs=[_, *_]):
                    return True
                case ast.GeneratorExp(elt=given):
                    if not all(isinstance(each, (ast.Name, ast.Tuple, ast.expr_context)) for each in ast.walk(given)):
                        return True
                case ast.Call(func=function) if self._semantics.qualified_name(function) in _ASKING:
                    return True
        return False

    def handed_to(self, use: ast.expr) -> ast.Call | None:
        """The call of a function of the file that hands a generator to what may take all of it; ``None`` for others."""
        parent = self._tree.parent(use)
        call = self._tree.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is use or (definition := self._called(call.func)) is None:
            return None
        parameter = self._parameter(call, definition, use)
        if parameter is None or len(parameter.scope.bindings[parameter.name]) != 1:
            return None
        return call if any(self.taker(each) is not None for each in parameter.uses) else None

    def is_optimizer(self, taker: ast.AST) -> bool:
        """Whether what takes a generator is an optimizer, which raises when it is given none."""
        return isinstance(taker, ast.Call) and self._semantics.kind(taker).type is Type.OPTIMIZER

    def _is_left(self, loop: ast.For, body: list[ast.stmt]) -> bool:
        """Whether a loop may end before it has gone over everything."""
        return any(isinstance(part, (ast.Break, ast.Return, ast.Yield)) for statement in body for part in ast.walk(statement))

    # --- where it is kept --------------------------------------------------------------------------------------------

    def kept_in(self, made: ast.expr) -> Binding | ast.Attribute | None:
        """The name that a generator is given, an attribute of ``self``, or the parameter of a function; ``None`` for others."""
        parent = self._tree.parent(made)
        match parent:
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is made:
                return self._semantics.bindings.of(target)
            case ast.AnnAssign(target=ast.Name() as target, value=value) if value is made:
                return self._semantics.bindings.of(target)
            case ast.Assign(targets=[ast.Attribute(value=owner) as target], value=value) if value is made:
                return target if self._facts.self_class(owner) is not None else None
            case ast.Call(func=function):
                definition = self._called(function)
                if definition is not None and made in parent.args:
                    return self._parameter(parent, definition, made)
            case ast.keyword():
                call = self._tree.parent(parent)
                if isinstance(call, ast.Call) and (definition := self._called(call.func)) is not None:
                    return self._parameter(call, definition, made)
        return None

    def _called(self, function: ast.expr) -> Function | None:
        """The function of the file that is called by its name, or the method that is called on ``self``."""
        found = self._facts.definition(function)
        if isinstance(function, ast.Attribute) and (owner := self._facts.self_class(function.value)) is not None:
            found = self._facts.method(owner, function.attr)
        return found if isinstance(found, FUNCTIONS) else None

    def _parameter(self, call: ast.Call, function: Function, made: ast.expr) -> Binding | None:
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if self._facts.argument(call, function, parameter) is made:
                binding = self._semantics.bindings.of(parameter)
                return binding if binding is not None and binding.form is Form.PARAMETER else None
        return None
