"""Modules whose ``__init__`` has the base class initialised too late, or never."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.fact import Fact
from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, position, walk_body
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.constructors.new import NewModules
from torchlint.semantics.modules.constructors.sole_initialisation import SoleInitialisation

Place = TypeVar("Place")

_NEED_INIT = frozenset(
    {
        *("add_module", "register_module", "register_buffer", "register_parameter", "register_forward_hook"),
        *("register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"),
        *("apply", "to", "cuda", "cpu", "half", "double", "eval", "train", "requires_grad_", "state_dict", "load_state_dict"),
        *("parameters", "named_parameters", "buffers", "modules", "named_modules", "children", "named_children", "zero_grad"),
    }
)
"""Methods of modules that raise an AttributeError before ``Module.__init__`` has run."""
_NO_ARGUMENTS = frozenset({"torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
_LIGHTNING = ("pytorch_lightning.", "lightning.")


@dataclass(frozen=True, eq=False, slots=True)
class InitialisedLate(Generic[Place]):
    """What is used of the module ``owner`` before ``initialising``, the statement that has the base class initialised.

    That can be moved in front of the statement ``before``; it cannot if that is not given. ``alone`` tells whether nothing else
    initialises such objects, or builds on the order.
    """

    owner: str
    initialising: Place | None
    before: Place | None
    alone: Fact


@dataclass(frozen=True, eq=False, slots=True)
class NeverInitialised(Generic[Place]):
    """What is used of the module ``owner``, whose ``constructor`` never has the base class initialised.

    ``super().__init__()`` would do, or else the base class ``takes_arguments``.
    """

    owner: str
    constructor: Place
    takes_arguments: bool
    alone: Fact


@dataclass(frozen=True, eq=False, slots=True)
class MentionedInit:
    """``super().__init__`` of the module ``owner``, which is not called."""

    owner: str
    alone: Fact


Initialisation: TypeAlias = InitialisedLate[ast.stmt] | NeverInitialised[ast.stmt] | MentionedInit


class Initialisations:
    """Looks at the constructors of the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes = semantics.of(ModuleClasses)
        self._new = semantics.of(NewModules)
        self._sole = semantics.of(SoleInitialisation)

    @cached_property
    def wrong(self) -> dict[ast.AST, Initialisation]:
        """What is wrong with the constructors, each by what shows it.

        That is the attribute that is given a module or a parameter, or the method that is called, too early; where only calling
        the module raises, the first parameter.
        """
        return dict(found for constructor in self._doubtful() for found in self._looked_at(constructor))

    def _doubtful(self) -> Iterator[Function]:
        """The constructors that do not have the base class initialised first of all."""
        functions: list[Function] = []
        functions += self._semantics.tree.of_type(ast.FunctionDef)
        functions += self._semantics.tree.of_type(ast.AsyncFunctionDef)
        for function in functions:
            if function.name == "__init__" and not function.decorator_list and not _starts_with_init(function):
                if function.args.posonlyargs or function.args.args:
                    yield function

    def _looked_at(self, constructor: Function) -> Iterator[tuple[ast.AST, Initialisation]]:
        owner = self._semantics.tree.parent(constructor)
        if not isinstance(owner, ast.ClassDef) or not self._is_ours_to_judge(owner, constructor):
            return
        calls = list(self._classes.initialising(constructor))
        culprit = self._first_too_early(owner, constructor, calls)
        alone = self._sole.fact(owner, constructor, culprit)
        if calls:
            if culprit is not None:
                initialising, before = self._move(constructor, culprit, calls)
                yield culprit, InitialisedLate(owner.name, initialising, before, alone)
        elif culprit is not None or self._is_called(owner, constructor):
            if (mentioned := _mentioned(constructor)) is not None:
                yield mentioned, MentionedInit(owner.name, alone)
                return
            place = culprit if culprit is not None else [*constructor.args.posonlyargs, *constructor.args.args][0]
            yield place, NeverInitialised(owner.name, constructor, not self._takes_no_arguments(owner), alone)

    # --- which classes are looked at ---------------------------------------------------------------------------------

    def _is_ours_to_judge(self, owner: ast.ClassDef, constructor: Function) -> bool:
        """Whether a class is a module that is made in no other way than by its constructor and torch's own."""
        if self._semantics.facts.classes[owner].methods.get("__init__") is not constructor:
            return False
        if _is_made_by_decorator(owner) or self._is_called_by_name(owner):
            return False
        return self._is_module(owner) and self._classes.has_known_bases(owner) and not _sets_state_itself(constructor)

    def _is_module(self, node: ast.ClassDef) -> bool:
        return any(
            self._semantics.kind(base).type is Type.CLASS or self._is_framework(base)
            for current in self._semantics.facts.bases(node)
            for base in current.bases
            if self._semantics.facts.definition(base) is None and self._semantics.facts.is_module(node)
        )

    def _is_framework(self, base: ast.expr) -> bool:
        name = self._semantics.qualified_name(base) or ""
        return name not in ("builtins.object", "abc.ABC") and not name.startswith(("torch.", "typing."))

    def _is_called_by_name(self, node: ast.ClassDef) -> bool:
        """Whether the file calls ``Class.__init__`` on objects of other classes, which may be initialised already."""
        calls = self._semantics.facts.calls.get("__init__", ())
        names = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
        return any(self._semantics.facts.definition(name) is node for name in names)

    def _is_called(self, node: ast.ClassDef, constructor: Function) -> bool:
        """Whether a class has what makes its instances be called, and a constructor that may come to its end."""
        facts = self._semantics.facts
        forward = facts.method(node, "forward")
        if forward is None or _is_to_be_written(forward) or facts.method(node, "__call__") is not None:
            return False
        return not isinstance(constructor.body[-1], ast.Raise)

    # --- what comes too early ----------------------------------------------------------------------------------------

    def _first_too_early(self, node: ast.ClassDef, constructor: Function, calls: list[ast.Call]) -> ast.expr | None:
        """The first use of what ``Module.__init__`` sets up, where no call of it can have come before."""
        flow = self._semantics.control_flow
        for part in walk_body(constructor.body):
            if isinstance(part, (ast.Attribute, ast.Call)) and self._needs_init(node, part):
                if flow.may_start_with(constructor, part, calls) and not any(flow.may_follow(call, part) for call in calls):
                    return part
        return None

    def _needs_init(self, node: ast.ClassDef, part: ast.Attribute | ast.Call) -> bool:
        """Whether ``part`` is ``self.name`` being given a module or parameter, or a call such as ``self.register_buffer``."""
        facts = self._semantics.facts
        match part:
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return name in _NEED_INIT and facts.self_class(value) is node and facts.method(node, name) is None
            case ast.Attribute(value=value, attr=name, ctx=ast.Store()):
                if facts.self_class(value) is not node or facts.method(node, name) is not None:
                    return False
                statement = self._semantics.tree.parent(part)
                given = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
                return given is not None and self._is_module_or_parameter(given)
        return False

    def _is_module_or_parameter(self, value: ast.expr) -> bool:
        if self._new.is_module(value) or self._new.is_parameter(value):
            return not (isinstance(value, ast.IfExp) or self._may_be_none(value))
        return isinstance(value, ast.Name) and self._semantics.kind(value).type is Type.MODULE and self._is_required(value)

    def _may_be_none(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Name) and any(
            isinstance(binding.value, ast.Constant) for binding in self._semantics.bindings.reaching(value)
        )

    def _is_required(self, value: ast.Name) -> bool:
        """Whether a name is a parameter that has no default, such as ``None``."""
        for binding in self._semantics.bindings.reaching(value):
            function = binding.scope.node
            if binding.form is not Form.PARAMETER or not isinstance(function, FUNCTIONS):
                return False
            if not isinstance(binding.node, ast.arg) or self._semantics.facts.default(function, binding.node) is not None:
                return False
        return True

    # --- how it is mended --------------------------------------------------------------------------------------------

    def _move(
        self, constructor: Function, culprit: ast.expr, calls: list[ast.Call]
    ) -> tuple[ast.stmt, ast.stmt] | tuple[None, None]:
        """The statement that has the base class initialised, and the one of the function's body that it has to come before."""
        tree, body = self._semantics.tree, constructor.body
        if len(calls) != 1 or not isinstance(statement := tree.parent(calls[0]), ast.Expr) or statement not in body:
            return None, None
        target = next(each for each in body if tree.inside(culprit, each))
        if body.index(target) >= body.index(statement) or not self._is_made_before(calls[0], target):
            return None, None
        return statement, target

    def _is_made_before(self, call: ast.Call, target: ast.stmt) -> bool:
        """Whether the arguments of a call are the same in front of ``target``."""
        for part in ast.walk(call):
            if isinstance(part, ast.Name):
                for binding in self._semantics.bindings.reaching(part):
                    if binding.scope.node is self._semantics.tree.function(call) and binding.form is not Form.PARAMETER:
                        if not isinstance(binding.node, (ast.expr, ast.stmt)) or position(binding.node) >= position(target):
                            return False
            elif isinstance(part, (ast.Lambda, ast.NamedExpr)) or self._is_own_attribute(part):
                return False
        return True

    def _is_own_attribute(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and self._semantics.facts.self_class(node.value) is not None

    def _takes_no_arguments(self, node: ast.ClassDef) -> bool:
        """Whether ``super().__init__()`` works in a class: its first base with a constructor needs nothing."""
        facts = self._semantics.facts
        for base in list(facts.bases(node))[1:]:
            constructor = facts.classes[base].methods.get("__init__")
            if constructor is not None:
                return not _requires_arguments(constructor)
        outer = [base for current in facts.bases(node) for base in current.bases if facts.definition(base) is None]
        names = [self._semantics.qualified_name(base) or "" for base in outer]
        return all(name in _NO_ARGUMENTS or name.startswith(_LIGHTNING) or "." not in name or "ABC" in name for name in names)


def _starts_with_init(function: Function) -> bool:
    """Whether nothing that may need the base class stands in front of the call that has it initialised."""
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
                return True
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Assert():
                continue
            case ast.Assign(targets=[ast.Name()], value=value) if not isinstance(value, ast.Call):
                continue
        return False
    return False


def _mentioned(function: Function) -> ast.Attribute | None:
    """``super().__init__`` as a statement, without the parentheses."""
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__") as attribute):
                return attribute
    return None


def _requires_arguments(function: Function) -> bool:
    """Whether a method needs arguments beside ``self``."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    keyword_only = any(default is None for default in arguments.kw_defaults)
    return len(positional) - len(arguments.defaults) > 1 or keyword_only


def _is_to_be_written(function: Function) -> bool:
    """Whether a function does nothing yet."""
    return all(isinstance(each, ast.Pass) or _is_text(each) for each in function.body)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_made_by_decorator(node: ast.ClassDef) -> bool:
    """Whether a decorator writes methods of the class: dataclasses and their like."""
    return any("dataclass" in (text := ast.unparse(decorator)) or "attr" in text for decorator in node.decorator_list)


def _sets_state_itself(function: Function) -> bool:
    """Whether a constructor fills the object's dictionary by hand."""
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("__dict__", "__setstate__", "__setattr__")
        for part in walk_body(function.body)
    )
