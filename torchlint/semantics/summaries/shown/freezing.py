"""Classes whose constructor freezes all parameters of what it makes: for good, or by what it is given.

``for p in self.parameters(): p.requires_grad = requires_grad`` at the end of ``__init__(self, requires_grad=False)`` does, and
so does ``if freeze: self.requires_grad_(False)``. Where anything of the class may thaw them again, or give it parameters behind
that, nothing is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from torchlint.semantics.code.tree import Function, dotted, given_to, is_false, last_name, walk
from torchlint.semantics.summaries.members import Member
from torchlint.semantics.summaries.summary import SelfFreezing

_ADDING = frozenset({"add_module", "register_module", "register_parameter", "append", "extend", "setattr", "apply"})
"""What is called that gives a module parameters."""
_LEAVING_ALONE = frozenset({"eval", "train", "to", "cuda", "cpu", "float", "half", "register_buffer", "load_state_dict"})
"""Methods of a module that give it none."""
_THAWING: tuple[type[ast.AST], ...] = (ast.Call, ast.Assign, ast.keyword)
"""The kinds of code that `may_thaw` tells of."""
_OVERRIDING = frozenset({"parameters", "named_parameters", "requires_grad_"})
"""What gives or freezes all parameters, unless a class has one of its own."""
_HARMLESS = re.compile(r"load|init|print|log|len|sum|count|info|isinstance|hasattr|getattr|super|_norm_", re.IGNORECASE)
"""What functions are called that give no parameters to what they are given."""
ANY_MORE = "*"
"""The place of arguments that are handed on in a list or a dict: they may be any."""


def flags_of(call: ast.Call) -> tuple[tuple[str, bool | None], ...]:
    """The arguments of a call, by place or keyword, that may be true or false; ``None`` for those that are not written out."""
    given = [(str(index), each) for index, each in enumerate(call.args)]
    given += [(word.arg or ANY_MORE, word.value) for word in call.keywords]
    found: list[tuple[str, bool | None]] = []
    for place, value in given:
        match value:
            case ast.Starred():
                found.append((ANY_MORE, None))
            case ast.Constant(value=bool(flag)):
                found.append((place, flag))
            case ast.Constant() | ast.List() | ast.Tuple() | ast.Dict() | ast.JoinedStr() if place != ANY_MORE:
                continue
            case _:
                found.append((place, None))
    return tuple(found)


def is_frozen_by(freezing: SelfFreezing, flags: Sequence[tuple[str, bool | None]]) -> bool:
    """Whether a constructor that is given these arguments freezes all parameters."""
    if not freezing.flag:
        return True
    given = dict(flags)
    if ANY_MORE in given:
        return False
    value = given.get(freezing.flag, given.get(freezing.place, freezing.default))
    return value is freezing.holds


@dataclass(frozen=True, slots=True)
class _Frozen:
    """That parameters are frozen where a parameter of the constructor, if one is named, ``holds`` or not."""

    flag: str = ""
    holds: bool = False


def freezing_of(members: Sequence[Member]) -> SelfFreezing | None:
    """How the constructor of a class with these members freezes all parameters; ``None`` where it does not, or may not."""
    methods = {member.method.name: member for member in members if member.method is not None}
    constructor = methods["__init__"].method if "__init__" in methods else None
    if constructor is None or constructor.decorator_list:
        return None
    found, helper = _last_of(constructor, {name: each.method for name, each in methods.items() if each.method is not None})
    if found is None or _is_rebound(constructor, found.flag):
        return None
    others = [member for member in members if member.method is None or member.method.name not in ("__init__", helper)]
    if may_undo(others, asked=_asked(constructor)):
        return None
    if not found.flag:
        return SelfFreezing(helper=helper)
    return flag_of(constructor, found.flag, holds=found.holds)


def flag_of(constructor: Function, flag: str, *, holds: bool) -> SelfFreezing | None:
    """What a constructor does where one of its parameters ``holds``, or does not; ``None`` where that gets another value."""
    if _is_rebound(constructor, flag):
        return None
    names = [each.arg for each in (*constructor.args.posonlyargs, *constructor.args.args)]
    place = str(names.index(flag) - 1) if flag in names else ""
    return SelfFreezing(flag, place, holds, _default(constructor, flag))


def asked_flag(test: ast.expr) -> tuple[str, bool] | None:
    """The one name that a test asks for, and whether it has to hold."""
    asked = _asks(test)
    return (asked.flag, asked.holds) if asked is not None else None


def may_undo(members: Sequence[Member], asked: Set[str] = frozenset(), helper: str = "") -> bool:
    """Whether members of a class, or of one that derives from it, may thaw parameters that its constructor freezes, give it
    others, or be in place of what freezes them, as its ``helper`` is. The constructor has ``asked`` for some before.
    """
    methods = [member for member in members if member.method is not None]
    replaced = _OVERRIDING | ({helper} if helper else set())
    if any(member.method is not None and member.method.name in replaced for member in methods):
        return True
    if any(may_thaw(part) for member in members for kind in _THAWING for part in member.every(kind)):
        return True
    later = (member for member in methods if member.method is not None and member.method.name not in asked)
    return any(_gives_part(part) for member in later for part in member.own(ast.Assign))


def _asked(constructor: Function) -> set[str]:
    """The methods of the object that its constructor calls."""
    calls = (part.func for each in constructor.body for part in walk(each) if isinstance(part, ast.Call))
    return {call.attr for call in calls if isinstance(call, ast.Attribute) and _root(call) == "self"}


def _gives_part(statement: ast.Assign) -> bool:
    """Whether a part of the object becomes a module that is made anew: ``self.fc = nn.Linear(8, 2)``."""
    if not any(isinstance(each, (ast.Attribute, ast.Subscript)) and _root(each) == "self" for each in statement.targets):
        return False
    return makes_layer(statement.value)


def makes_layer(value: ast.expr) -> bool:
    """Whether a value is made with a layer of torch, by the name that this has there: ``nn.Linear(8, 2)``."""
    names = (dotted(call.func) or "" for call in walk(value) if isinstance(call, ast.Call))
    return any(name.startswith(("nn.", "torch.nn.")) and name.rpartition(".")[2][:1].isupper() for name in names)


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes and items starts with; empty where it starts with none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _last_of(constructor: Function, methods: dict[str, Function]) -> tuple[_Frozen | None, str]:
    """What freezes all parameters in a constructor, with nothing behind it that gives any; and the method that it asks to."""
    for statement in reversed(constructor.body):
        if (frozen := _freezes(statement)) is not None:
            return (frozen if not _leaves_before(constructor, statement) else None), ""
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[], keywords=[])):
                method = methods.get(name)
                if method is not None and _freezes_alone(method) and not _leaves_before(constructor, statement):
                    return _Frozen(), name
        if _may_add(statement):
            break
    return None, ""


def _leaves_before(constructor: Function, last: ast.stmt) -> bool:
    """Whether a constructor may be left before a statement is reached."""
    before = constructor.body[: constructor.body.index(last)]
    return any(isinstance(part, ast.Return) for each in before for part in walk(each))


def _freezes_alone(method: Function) -> bool:
    """Whether a method does nothing but freeze all parameters, whoever calls it."""
    statements = [each for each in method.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    return len(statements) == 1 and not method.decorator_list and _freezes(statements[0]) == _Frozen()


def _freezes(statement: ast.stmt) -> _Frozen | None:
    """When a statement freezes all parameters of ``self``."""
    match statement:
        case ast.For(target=ast.Name(id=name), iter=iterable, body=[only], orelse=[]) if _gives_all(iterable):
            return _sets(only, name)
        case ast.For(target=ast.Tuple(elts=[_, ast.Name(id=name)]), iter=iterable, body=[only], orelse=[]):
            return _sets(only, name) if _gives_all(iterable, "named_parameters") else None
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="requires_grad_"))):
            return _sets(statement, "self")
        case ast.If(test=test, body=[only], orelse=[]) if _freezes(only) == _Frozen():
            return _asks(test)
    return None


def _gives_all(iterable: ast.expr, method: str = "parameters") -> bool:
    """Whether a method of ``self`` that gives all its parameters is called."""
    match iterable:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[], keywords=[]):
            return name == method
    return False


def _sets(statement: ast.stmt, name: str) -> _Frozen | None:
    """When a statement freezes the parameter, or the module, of that name."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr="requires_grad")], value=value):
            return _where_false(value) if owner == name else None
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="requires_grad_")) as call):
            values = given_to(call)
            return _where_false(values[0]) if owner == name and len(values) == 1 else None
    return None


def _where_false(value: ast.expr) -> _Frozen | None:
    """When a value that parameters get for ``requires_grad`` is false."""
    match value:
        case ast.Constant(value=False):
            return _Frozen()
        case ast.Name(id=flag):
            return _Frozen(flag, holds=False)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=flag)):
            return _Frozen(flag, holds=True)
    return None


def _asks(test: ast.expr) -> _Frozen | None:
    """When a test holds that asks for one name alone."""
    match test:
        case ast.Name(id=flag):
            return _Frozen(flag, holds=True)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=flag)):
            return _Frozen(flag, holds=False)
        case ast.Compare(left=ast.Name(id=flag), ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=bool(holds))]):
            return _Frozen(flag, holds)
    return None


def _may_add(statement: ast.stmt) -> bool:
    """Whether a statement may give the object parameters, or thaw those that it has."""
    for part in walk(statement):
        if may_thaw(part):
            return True
        match part:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(value=ast.Attribute(), ctx=ast.Store()):
                if any(isinstance(each, (ast.Call, ast.Name, ast.Subscript)) for each in _stored(statement)):
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name not in _LEAVING_ALONE:
                return True
            case ast.Call(func=function, args=arguments):
                given = any(isinstance(each, (ast.Name, ast.Attribute)) and _root(each) == "self" for each in arguments)
                if last_name(function) in _ADDING or (given and not _HARMLESS.search(last_name(function))):
                    return True
    return False


def _stored(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of the value that a statement stores; of any other statement all."""
    yield from walk(statement.value if isinstance(statement, ast.Assign) else statement)


def may_thaw(part: ast.AST) -> bool:
    """Whether code may have parameters require a gradient again."""
    match part:
        case ast.Call(func=ast.Attribute(attr="requires_grad_")):
            values = given_to(part)
            return not (len(values) == 1 and is_false(values[0]))
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value="requires_grad"), value]):
            return not is_false(value)
        case ast.Assign(targets=targets, value=value):
            is_flag = any(isinstance(each, ast.Attribute) and each.attr == "requires_grad" for each in targets)
            return is_flag and not is_false(value)
        case ast.keyword(arg="requires_grad", value=value):
            return not is_false(value)
    return False


def _is_rebound(constructor: Function, flag: str) -> bool:
    """Whether a flag is no parameter of the constructor, or gets another value there."""
    arguments = constructor.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if not flag:
        return False
    stored = (part for each in constructor.body for part in walk(each) if isinstance(part, ast.Name) and part.id == flag)
    return flag not in given or any(not isinstance(each.ctx, ast.Load) for each in stored)


def _default(constructor: Function, flag: str) -> bool | None:
    """The value of a flag that the constructor is not given."""
    arguments = constructor.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed([each.arg for each in positional]), reversed(arguments.defaults)))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if default is not None:
            defaults[each.arg] = default
    value = defaults.get(flag)
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None
