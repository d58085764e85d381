"""Networks that are frozen when they are made, whoever runs them: followed to what makes them, through callers and files."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, is_self, last_name, position
from torchlint.semantics.graphs.frozen.makings import FrozenMakings
from torchlint.semantics.graphs.frozen.models import frozen_by
from torchlint.semantics.graphs.frozen.thawed import Thawed
from torchlint.semantics.summaries.calls import PARAMETER, Parameter, parameter
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere
from torchlint.semantics.summaries.summary import RESULT, Made

_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "half", "double", "bfloat16", "share_memory"})
"""Methods of a module that give the module itself."""
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "DDP", "compile"})
"""Classes and functions that give the module that they are given, wrapped."""
_DEPTH = 8
"""So many names, calls and files may lie between a network and what makes it."""


class FrozenNetworks:
    """Tells of names and attributes whether all that they stand for are networks without a parameter that requires grad."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._makings = semantics.of(FrozenMakings)
        self._known: dict[Binding, bool | None] = {}
        self._kept: dict[tuple[ast.ClassDef, str], bool] = {}
        self._alike: dict[str, bool] = {}
        self._giving: dict[Function, bool] = {}
        self._frozen_at: dict[Binding, ast.stmt | None] = {}

    def are_run_by(self, call: ast.Call) -> bool:
        """Whether a call runs such a network, itself or by a method: ``model(x)``, ``model.forward(x)``.

        A parameter of what nobody calls is taken for what others of that name are, where it is called itself.
        """
        function = call.func
        found = self._is_frozen(function, _DEPTH)
        if found is None and isinstance(function, ast.Name):
            return self._is_called_alike(function.id)
        owner = function.value if isinstance(function, ast.Attribute) else None
        return found is True or (owner is not None and not is_self(owner) and self._is_frozen(owner, _DEPTH) is True)

    def _is_called_alike(self, name: str) -> bool:
        """Whether what the functions of the file are given by a name are such networks, as far as anybody calls them."""
        if name not in self._alike:
            functions = (each for each in self._tree.module.body if isinstance(each, FUNCTIONS))
            every = (each for function in functions for each in (*function.args.args, *function.args.kwonlyargs))
            bindings = [self._semantics.bindings.of(each) for each in every if each.arg == name]
            known = [self._is_bound_frozen(each, _DEPTH) for each in bindings if each is not None]
            self._alike[name] = self._all_frozen(known) is True
        return self._alike[name]

    def _is_frozen(self, node: ast.expr | None, depth: int) -> bool | None:
        """Whether a value is a frozen network; ``None`` where it is ``None``, or an argument of what nobody calls."""
        if node is None or not depth:
            return False
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Call(func=ast.Attribute(value=inner, attr="requires_grad_"), args=[ast.Constant(value=False)]):
                return not isinstance(inner, ast.Name) or not self._thawed.may_be(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME:
                return self._is_frozen(inner, depth)
            case ast.Call(func=function, args=[inner, *_]) if last_name(function) in _WRAPPERS:
                return self._is_frozen(inner, depth)
            case ast.Call():
                return self._makings.makes_frozen(node) or self._is_given_frozen(node, depth - 1)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all_frozen([self._is_frozen(each, depth - 1) for each in (body, orelse)])
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                if not bindings or self._thawed.may_be(node):
                    return False
                return self._all_frozen([self._is_bound(each, node, depth - 1) for each in bindings])
            case ast.Attribute(value=owner, attr=name):
                around = self._semantics.facts.self_class(owner)
                return around is not None and not self._thawed.may_be(node) and self._is_kept(around, name, depth - 1)
        return False

    def _is_given_frozen(self, call: ast.Call, depth: int) -> bool:
        """Whether all that a function returns are frozen networks."""
        function = self._semantics.facts.definition(call.func)
        if isinstance(function, FUNCTIONS):
            if function.decorator_list or not isinstance(self._tree.parent(function), ast.Module):
                return False
            if function not in self._giving:
                self._giving[function] = False  # while it is looked at
                returned = self._semantics.facts.returned(function)
                self._giving[function] = self._all_frozen([self._is_frozen(each, depth) for each in returned]) is True
            return self._giving[function]
        found = self._semantics.elsewhere.function(call.func)
        return found is not None and self._gives_frozen(found, depth)

    @property
    def _thawed(self) -> Thawed:
        return self._semantics.of(Thawed)

    @staticmethod
    def _all_frozen(found: Iterable[bool | None]) -> bool | None:
        """Whether several values are, of which some are; ``None`` where nothing is told of any."""
        every = set(found)
        return None if every == {None} else True in every and False not in every

    # --- variables ---------------------------------------------------------------------------------------------------

    def _is_bound(self, binding: Binding, use: ast.expr, depth: int) -> bool | None:
        """Whether a variable is bound to a frozen network, or one that is frozen in between, above where it is used."""
        found = self._is_bound_frozen(binding, depth)
        return self._is_frozen_behind(binding, use) if found is False else found

    def _is_bound_frozen(self, binding: Binding, depth: int) -> bool | None:
        """Whether a variable gets a frozen network where it is bound; ``None`` as in `_is_frozen`."""
        if binding not in self._known:
            self._known[binding] = False  # while it is looked at
            self._known[binding] = self._looked_up(binding, depth)
        return self._known[binding]

    def _looked_up(self, binding: Binding, depth: int) -> bool | None:
        match binding:
            case Binding(form=Form.PARAMETER):
                return self._is_given(binding, depth)
            case Binding(form=Form.ASSIGNMENT, path=()):
                return self._is_frozen(binding.value, depth)
        return False

    def _is_frozen_behind(self, binding: Binding, use: ast.expr) -> bool:
        """Whether the block in which a network gets its name freezes all of it, before it is used there."""
        if binding not in self._frozen_at:
            self._frozen_at[binding] = self._freezing_behind(binding)
        statement = self._frozen_at[binding]
        if statement is None:
            return False
        return self._tree.function(use) is not self._tree.function(statement) or position(statement) < position(use)

    def _freezing_behind(self, binding: Binding) -> ast.stmt | None:
        """The statement that freezes what a call gives a name to, in the same block."""
        if binding.form is not Form.ASSIGNMENT or binding.path or not isinstance(binding.value, ast.Call):
            return None
        return self._frozen_after(self._tree.statement(binding.node), binding.name)

    def _frozen_after(self, made: ast.stmt, name: str) -> ast.stmt | None:
        """The statement of the same block, behind another one, that freezes all of what has a name."""
        block = self._tree.block(made)
        return next(
            (each for each in self._freezing.get(name, ()) if each.lineno > made.lineno and self._tree.block(each) is block),
            None,
        )

    @cached_property
    def _freezing(self) -> dict[str, list[ast.stmt]]:
        """The statements that freeze all parameters of something, by what that is called."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in (*self._tree.of_type(ast.For), *self._tree.of_type(ast.Expr)):
            if (module := frozen_by(statement)) is not None and (name := dotted(module)) is not None:
                found.setdefault(name, []).append(statement)
        return found

    def _is_kept(self, owner: ast.ClassDef, name: str, depth: int) -> bool:
        """Whether all that a class stores in an attribute are frozen networks, or that itself, moved."""
        key = (owner, name)
        if key not in self._kept:
            self._kept[key] = False
            slots = self._semantics.facts.slots(owner, name)
            stores = [store for slot in slots for store in slot.stores]
            is_other = name in self._semantics.facts.stored_attributes or any(slot.class_values for slot in slots)
            found = [self._is_stored(store, depth) for store in stores]
            self._kept[key] = not is_other and self._all_frozen(found) is True and not self._has_heir(owner)
        return self._kept[key]

    def _has_heir(self, owner: ast.ClassDef) -> bool:
        """Whether a class of another file derives from one, and has a constructor of its own, which may store another."""
        callers = self._semantics.elsewhere.callers
        return callers is not None and any("__init__" in each.summary.methods for each in callers.heirs(owner.name))

    def _is_stored(self, store: ast.Attribute, depth: int) -> bool | None:
        """Whether an attribute gets a frozen network, or one that is frozen behind that; ``None`` for itself, moved."""
        statement = self._tree.parent(store)
        if not isinstance(statement, ast.Assign):
            return False
        if _moved_from(statement.value, store.attr):
            return None
        found = self._is_frozen(statement.value, depth)
        is_made = found is not True and isinstance(statement.value, ast.Call)
        return found if not is_made or self._frozen_after(statement, f"self.{store.attr}") is None else True

    # --- arguments ---------------------------------------------------------------------------------------------------

    def _is_given(self, binding: Binding, depth: int) -> bool | None:
        """Whether all that calls a function, here and in other files, hands in a frozen network."""
        function = binding.scope.node
        if not isinstance(function, FUNCTIONS) or not isinstance(binding.node, ast.arg):
            return False
        owner = self._tree.parent(function)
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            if len(self._semantics.facts.derived(owner)) > 1:
                return False
            calls = self._semantics.facts.calls.get(owner.name, ())
        elif isinstance(owner, (ast.Module, ast.ClassDef)):
            calls = self._semantics.inference.call_sites(function)
            if self._semantics.facts.read_names[function.name] != len(calls):
                return False  # it is handed on, or a method of something else may be it
        else:
            return False
        here = [self._semantics.facts.argument(call, function, binding.node) for call in calls]
        found = [self._is_frozen(each, depth) for each in here]
        if False in found:
            return False
        return self._all_frozen([*found, *self._elsewhere(function, binding, depth)] or [None])

    def _elsewhere(self, function: Function, binding: Binding, depth: int) -> Iterator[bool | None]:
        """Whether the calls in other files give a frozen network."""
        callers, owner = self._semantics.elsewhere.callers, self._tree.parent(function)
        if callers is not None:
            asked = parameter(function, binding.name, owner.name if isinstance(owner, ast.ClassDef) else "")
            for given in callers.given(asked):
                yield not given.thawed and self._is_made_frozen(given.made, given.file, depth - 1)

    def _is_made_frozen(self, made: Made, file: str, depth: int) -> bool:
        """Whether each of what may have made a value in a file makes frozen networks alone."""
        return depth > 0 and bool(made.by) and all(self._makes_frozen(by, file, depth) for by in made.by)

    def _gives_frozen(self, function: FunctionElsewhere, depth: int) -> bool:
        """Whether all that a function of another file gives are frozen networks, as far as it shows what it makes."""
        summary = function.summary
        return not summary.hidden and RESULT not in summary.thaws and self._is_made_frozen(summary.gives, function.file, depth)

    def _makes_frozen(self, by: str, file: str, depth: int) -> bool:
        """Whether a function, class or parameter of a file, by its reference there, stands for frozen networks alone."""
        callers = self._semantics.elsewhere.callers
        if callers is None:
            return False
        if by.startswith(PARAMETER):
            given = callers.given(Parameter.of(by), file)
            if any(each.thawed for each in given):
                return False
            return bool(given) and all(self._is_made_frozen(each.made, each.file, depth - 1) for each in given)
        target = callers.lookup.reference(by, file)
        if isinstance(target, FunctionElsewhere):
            return self._gives_frozen(target, depth - 1)
        return isinstance(target, ClassElsewhere) and self._makings.are_always_frozen(target)


def _moved_from(value: ast.expr, attribute: str) -> bool:
    """Whether a value is an attribute of ``self``, moved or wrapped."""
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME:
            return _moved_from(inner, attribute)
        case ast.Call(func=function, args=[inner, *_]) if last_name(function) in _WRAPPERS:
            return _moved_from(inner, attribute)
        case ast.Attribute(value=owner, attr=name):
            return is_self(owner) and name == attribute
    return False
