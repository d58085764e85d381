"""What a file calls with what: kept for the files that define what is called, which ask who calls it.

Only what may be of another file of the project is kept, by name, with what makes each argument. An argument that is a parameter
of the function around is a reference of its own, `parameter_of`: who calls that function says what it is.
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, is_none, last_name, push_children, walk, walk_body
from torchlint.semantics.summaries.functions import SAME_METHODS
from torchlint.semantics.summaries.local_names import LocalNames, imported_names
from torchlint.semantics.summaries.shown.freezing import flags_of
from torchlint.semantics.summaries.shown.thawing import thawed_names
from torchlint.semantics.summaries.shown.unrecorded import turns_off
from torchlint.semantics.summaries.summary import IMPORTED, NOTHING_KNOWN, Made

PARAMETER = "$"
"""What a reference starts with that is a parameter of a function of the file, behind its place: ``$0.train.model``."""
INSTANCE = "()."
"""What is between a class and the method of it that is called on an instance."""
_OTHERS = frozenset(
    {"torch", "numpy", "np", "nn", "F", "os", "sys", "math", "time", "random", "json", "logging", "re", "plt", "tqdm"}
)
"""What calls start with that are no calls of the project."""
_EVALUATION = re.compile(r"(^|_)(eval\w*|val|valid\w*|test|tests|testing|acc|accuracy|metrics?|score)(_|$)", re.IGNORECASE)
"""What functions are called that evaluate for figures."""
_SETTING = re.compile(r"eval|training|\w*(mode|hook|callback)s?", re.IGNORECASE)
"""What sets the mode of a model, or may."""
_THAWING = {"requires_grad", "requires_grad_", "Linear", "Sequential", "Conv2d", "Identity", "Parameter"}
"""Of what a file speaks that may thaw networks, or give them new parts."""
_MOST = 2_000
"""So many calls of a file are kept; files with more are generated."""
_DEEPEST = 8
"""So many assignments may lie between a value and what makes it."""


@dataclass(frozen=True, slots=True)
class CallSummary:
    """A call of what the reference ``to`` stands for, or of a method of an instance; what is ``given``, by place.

    It is ``unrecorded`` where the function around it turns autograd off for it, and ``in_training`` where it is called like an
    evaluation, and nothing in its file puts a model into evaluation mode. Of what is called like a class, ``flags`` are the
    arguments that may be true or false. It stands ``within`` a function or method, if others can call that, which may find
    autograd off. What is given at the places that are ``thawed`` may be thawed by the file, or get new parts there.
    """

    to: str
    given: tuple[tuple[str, Made], ...] = ()
    starred: bool = False
    unrecorded: bool = False
    in_training: bool = False
    flags: tuple[tuple[str, bool | None], ...] = ()
    within: str = ""
    thawed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of what is called."""
        return self.to.rpartition(".")[2]


Calls: TypeAlias = tuple[CallSummary, ...]
_Lines: TypeAlias = Callable[[set[str]], list[int] | None]


def calls_of(module: ast.Module, name: str = "", lines_with: _Lines | None = None) -> Calls:
    """The calls in a file that may be of another file of the project; if there is a ``name``, those of what is called so.

    ``lines_with`` tells which lines have some names: nothing else is looked at then.
    """
    instances: list[_Instance] = []
    names = {name}
    found = _Scope.calls(module, instances, lines_with(names) if lines_with is not None and name else None)
    aliases = [node for _, node in found if isinstance(node, ast.alias) and node.name.rpartition(".")[2] == name]
    names.update(alias.asname for alias in aliases if alias.asname is not None)
    if lines_with is not None and name and len(names) > 1:
        found = _Scope.calls(module, instances, lines_with(names))
    calls = [(scope, node) for scope, node in found if isinstance(node, ast.Call)]
    sought = [(scope, call) for scope, call in calls if not name or last_name(call.func) in names][:_MOST]
    trains = _EVALUATION.search(name) is not None and bool(sought) and not any(map(_may_set_mode, walk(module)))
    thawed = thawed_names(walk(module)) if sought and (lines_with is None or lines_with(_THAWING)) else frozenset[str]()
    summed_up = (_summed_up(call, to, scope, trains, thawed) for scope, call in sought if (to := scope.called(call.func)))
    summaries = tuple(each for each in dict.fromkeys(summed_up) if not name or each.name == name)
    for instance in instances:
        instance.methods.clear()  # else the tree would wait for the garbage collector
    return summaries


def _summed_up(call: ast.Call, to: str, scope: _Scope, trains: bool, thawed: Set[str]) -> CallSummary:
    starred = any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)
    places = ((str(index), each) for index, each in enumerate(call.args) if not isinstance(each, ast.Starred))
    words = ((each.arg, each.value) for each in call.keywords if each.arg is not None)
    every = [*places, *words]
    given = ((place, scope.made(value)) for place, value in every)
    changed = tuple(place for place, value in every if last_name(value) in thawed)
    made = tuple((place, made) for place, made in given if made != NOTHING_KNOWN)
    flags = flags_of(call) if to.rpartition(".")[2][:1].isupper() else ()
    unrecorded = scope.is_unrecorded(call)
    within = "" if unrecorded else scope.name
    return CallSummary(to, made, starred, unrecorded, in_training=trains, flags=flags, within=within, thawed=changed)


def _may_set_mode(node: ast.AST) -> bool:
    """Whether code may put something into evaluation mode: ``model.eval()``, ``model.train(False)``, ``set_mode(model)``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="train"), args=args, keywords=words):
            return bool(args or words)
        case ast.Attribute(attr=word) | ast.Name(id=word) | ast.Constant(value=str(word)):
            return _SETTING.fullmatch(word) is not None
    return False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a ``function``, ``train`` or ``Trainer.fit``: its name, and its place among what calls give."""

    function: str
    name: str
    place: str

    @property
    def reference(self) -> str:
        """What stands for it in what is made."""
        return f"{PARAMETER}{self.place}.{self.function}.{self.name}"

    @classmethod
    def of(cls, reference: str) -> Parameter:
        """The one that a reference is."""
        place, _, rest = reference.removeprefix(PARAMETER).partition(".")
        function, _, name = rest.rpartition(".")
        return cls(function, name, place)


def parameter(function: Function, name: str, owner: str = "") -> Parameter:
    """The parameter of that name of a function, or of a method of the class ``owner``."""
    given = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    is_bound = bool(owner) and not any(last_name(each) == "staticmethod" for each in function.decorator_list)
    place = str(given.index(name) - is_bound) if name in given else ""
    return Parameter(f"{owner}.{function.name}" if owner else function.name, name, place)


def _is_on(lines: list[int], node: ast.stmt) -> bool:
    """Whether one of some lines, which are in order, is one of a statement's."""
    place = bisect_left(lines, node.lineno)
    return place < len(lines) and lines[place] <= (node.end_lineno or node.lineno)


class _Scope:
    """The variables of a function, of a class's instances, or of the top level of a file, and what makes them."""

    def __init__(
        self,
        body: list[ast.stmt],
        function: Function | None = None,
        outer: _Scope | None = None,
        owner: _Instance | None = None,
    ) -> None:
        self._body = body
        self._function = function
        self._outer = outer
        self._within = owner
        """The class that the function is a method of."""
        self._owner: _Instance | None = owner or (outer._owner if outer is not None else None)
        self._unrecorded: list[tuple[int, int]] = []
        """From where to where lines of the scope are run with autograd off."""

    @classmethod
    def calls(
        cls, module: ast.Module, instances: list[_Instance], lines: list[int] | None
    ) -> list[tuple[_Scope, ast.Call | ast.alias]]:
        """The calls and imports in a file, each with the scope that it is in; what classes store is added to ``instances``.

        Only statements on some ``lines`` are looked at, if there are such.
        """
        found: list[tuple[_Scope, ast.Call | ast.alias]] = []
        pending: list[tuple[_Scope, _Instance | None, list[ast.stmt]]] = [(cls(module.body), None, module.body)]
        while pending:
            scope, owner, body = pending.pop()
            stack: list[ast.AST] = list(reversed(body))
            while stack:
                node = stack.pop()
                if lines is not None and isinstance(node, ast.stmt) and not _is_on(lines, node):
                    if owner is not None and isinstance(node, FUNCTIONS):
                        scope._inner(node, owner)
                elif isinstance(node, FUNCTIONS):
                    pending.append((scope._inner(node, owner), None, node.body))
                elif isinstance(node, ast.ClassDef):
                    instances.append(_Instance(node))
                    pending.append((scope, instances[-1], node.body))
                else:
                    if isinstance(node, (ast.Call, ast.alias)):
                        found.append((scope, node))
                    elif isinstance(node, (ast.With, ast.AsyncWith)) and any(map(turns_off, _contexts(node))):
                        scope._unrecorded.append((node.lineno, node.end_lineno or node.lineno))
                    push_children(node, stack)
        return found

    @property
    def name(self) -> str:
        """What others call the function by, ``Trainer.fit``; empty for the top level, and what is nested in a function."""
        if self._function is None or self._outer is None or self._outer._function is not None:
            return ""
        return f"{self._within.name}.{self._function.name}" if self._within is not None else self._function.name

    def is_unrecorded(self, call: ast.Call) -> bool:
        """Whether a call of this scope stands where a block, a decorator or a statement turns autograd off."""
        if self._function is not None and any(map(turns_off, self._function.decorator_list)):
            return True
        if any(first <= call.lineno <= last for first, last in self._unrecorded):
            return True
        return self._off_from is not None and self._off_from < call.lineno

    @cached_property
    def _off_from(self) -> int | None:
        """The line of the statement that turns autograd off from there on: ``torch.set_grad_enabled(False)``."""
        statements = [each.value for each in self._body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
        switches = [call for call in statements if last_name(call.func) == "set_grad_enabled"]
        return switches[0].lineno if switches and all(map(turns_off, switches)) else None

    def _inner(self, function: Function, owner: _Instance | None) -> _Scope:
        inner = _Scope(function.body, function, self, owner)
        if owner is not None:
            owner.methods.setdefault(function.name, inner)
        return inner

    @cached_property
    def _names(self) -> LocalNames:
        if self._function is None:
            return _top_level(list(_top_nodes(self._body)))
        return LocalNames(self._function, self._outer._names if self._outer is not None else None)

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        """Those of a function of the top level, or of a method of a class there."""
        if self._function is None or self._outer is None or self._outer._function is not None:
            return {}
        within = self._within.name if self._within is not None else ""
        return {each.arg: parameter(self._function, each.arg, within) for each in self._names.parameters}

    @cached_property
    def _paths(self) -> dict[str, list[tuple[ast.expr, int]]]:
        """The names that are bound to a part of a value: ``model, optimizer = build()``."""
        found: dict[str, list[tuple[ast.expr, int]]] = {}
        for node in walk_body(self._body) if self._function is not None else _top_nodes(self._body):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, (ast.Tuple, ast.List)):
                        for index, part in enumerate(target.elts):
                            if isinstance(part, ast.Name):
                                found.setdefault(part.id, []).append((node.value, index))
        return found

    def called(self, function: ast.expr) -> str:
        """The reference of what is called, empty where it is surely nothing of another file."""
        text = dotted(function)
        if text is None:
            return ""
        if text.partition(".")[0] in _OTHERS or hasattr(builtins, text):
            return ""
        if reference := self._names.reference(function):
            others = (f"{IMPORTED}{name}" for name in _OTHERS)
            return "" if reference.partition(".")[0] in others else reference
        if isinstance(function, ast.Attribute) and isinstance(function.value, (ast.Name, ast.Attribute)):
            made = self.made(function.value)
            if len(made.by) == 1 and not made.by[0].startswith((PARAMETER, f"{IMPORTED}torch.", "torch.", "nn.")):
                return f"{made.by[0]}{INSTANCE}{function.attr}"
        return ""

    def made(self, value: ast.expr, depth: int = _DEEPEST) -> Made:
        """What makes a value; of a parameter, its reference."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SAME_METHODS:
            value = value.func.value
        if depth <= 0:
            return NOTHING_KNOWN
        match value:
            case ast.Call(func=function, args=args):
                reference = self._names.called(function)
                if reference.rpartition(".")[2] in _WRAPPERS and args:
                    return self.made(args[0], depth - 1)
                return Made((reference,)) if reference else NOTHING_KNOWN
            case ast.IfExp(body=body, orelse=orelse):
                return _either(self.made(part, depth - 1) for part in self._names.fresh([body, orelse]) if not is_none(part))
            case ast.Name(id=name):
                return self._variable(name, depth)
            case ast.Attribute(value=ast.Name("self"), attr=name) if self._owner is not None:
                return self._owner.made(name, depth - 1)
        return NOTHING_KNOWN

    def _variable(self, name: str, depth: int) -> Made:
        if name not in self._names.values:
            return self._outer._variable(name, depth) if self._outer is not None else NOTHING_KNOWN
        stays = (given is None or _is_itself(given, name) for given in self._names.values[name])
        if name in self._parameters and all(stays):
            return Made((self._parameters[name].reference,))
        given = [each for each in self._names.given(name) if each is None or not (_is_itself(each, name) or is_none(each))]
        parts = self._paths.get(name, ())
        if not given or sum(each is None for each in given) != len(parts):
            return NOTHING_KNOWN
        made = [self.made(each, depth - 1) for each in given if each is not None]
        return _either([*made, *(_part(self.made(each, depth - 1), index) for each, index in parts)])


class _Instance:
    """What the methods of a class store in its instances."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.name = node.name
        self.methods: dict[str, _Scope] = {}
        self._node = node

    @cached_property
    def _stores(self) -> dict[str, list[tuple[str, ast.expr]]]:
        """What each attribute is assigned, and in which method."""
        found: dict[str, list[tuple[str, ast.expr]]] = {}
        for method in self._node.body:
            if isinstance(method, FUNCTIONS):
                for part in walk_body(method.body):
                    if isinstance(part, ast.Assign):
                        for target in part.targets:
                            for attribute, value in _stored(target, part.value):
                                found.setdefault(attribute, []).append((method.name, value))
        return found

    def made(self, attribute: str, depth: int) -> Made:
        """What makes that which an attribute of the instances holds."""
        stores = [each for each in self._stores.get(attribute, ()) if not (is_none(each[1]) or _keeps(each[1], attribute))]
        scopes = [self.methods.get(method) for method, _ in stores]
        if depth <= 0 or not stores or None in scopes:
            return NOTHING_KNOWN
        return _either(scope.made(value, depth) for scope, (_, value) in zip(scopes, stores) if scope is not None)


def _stored(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The attributes of ``self`` that an assignment gives a value."""
    match target, value:
        case ast.Attribute(value=ast.Name("self"), attr=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for each, part in zip(targets, values):
                yield from _stored(each, part)


def _contexts(block: ast.With | ast.AsyncWith) -> Iterator[ast.expr]:
    yield from (item.context_expr for item in block.items)


_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "DDP", "compile"})
"""What gives a model that acts as the one that it is given."""


def _top_nodes(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a file that are in no function or class; of these the definitions."""
    for statement in body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield statement
        else:
            yield from walk(statement)


def _top_level(nodes: list[ast.AST]) -> LocalNames:
    """The variables of a file's top level: names of functions, classes and imports are none."""
    names = LocalNames()
    defined: set[str] = set()
    imported: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, full in imported_names(node):
                imported.setdefault(name, set()).add(full)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            defined.add(node.name)
    names.take_imports({name: full for name, (full, *others) in imported.items() if not others and name not in defined})
    defined.update(imported)
    plain: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    plain.add(target)
                    if target.id not in defined:
                        names.values.setdefault(target.id, []).append(node.value)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in plain and node.id not in defined:
            names.values.setdefault(node.id, []).append(None)
    return names


def _either(parts: Iterable[Made]) -> Made:
    """One of several; nothing where of one nothing is known."""
    every = list(dict.fromkeys(parts))
    if len(every) == 1:
        return every[0]
    if every and all(each.by for each in every):
        return Made(tuple(dict.fromkeys(by for each in every for by in each.by)))
    return NOTHING_KNOWN


def _part(made: Made, index: int) -> Made:
    """An item of what something gives."""
    if made.items:
        return made.items[index] if index < len(made.items) else NOTHING_KNOWN
    return Made(tuple(f"{by}[{index}]" for by in made.by)) if len(made.by) == 1 else NOTHING_KNOWN


def _is_itself(value: ast.expr, name: str) -> bool:
    """Whether a value is that of a variable, moved or wrapped."""
    match value:
        case ast.Name(id=other):
            return other == name
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in SAME_METHODS:
            return _is_itself(owner, name)
        case ast.Call(func=function, args=[first, *_]):
            return (dotted(function) or "").rpartition(".")[2] in _WRAPPERS and _is_itself(first, name)
    return False


def _keeps(value: ast.expr, attribute: str) -> bool:
    """Whether an attribute is given what it holds already."""
    match value:
        case ast.Attribute(value=ast.Name("self"), attr=other):
            return other == attribute
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in SAME_METHODS:
            return _keeps(owner, attribute)
        case ast.Call(func=function, args=[first, *_]):
            return (dotted(function) or "").rpartition(".")[2] in _WRAPPERS and _keeps(first, attribute)
    return False
