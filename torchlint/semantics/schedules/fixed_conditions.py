"""Conditions that come out the same in every round of a loop: those that ask for options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.tree import Function, Loop, dotted, given_to, is_self, last_name
from torchlint.semantics.modules.containers.replaced import ReplacedAttributes
from torchlint.semantics.summaries.lookup import ClassElsewhere

_PARTS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Subscript, ast.Tuple, ast.List),
    *(ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context),
)
"""What tests are made of that ask for options."""
_OPTIONS = re.compile(r"(^|_)(args?|opts?|options?|cfg|conf|config|hparams|hps|flags|params|settings)$", re.IGNORECASE)
"""What an object is called that holds the options of a run."""
_STATES = re.compile(
    r"best|epoch|count|loss|acc(?!el)|state|grad|done|stepped|global_?step|iter|round|patien|plateau|improv|converg|finish|score"
    r"|metric|resum|ready|begun|began|started|seen|trained|warmed|current|last|prev|now|(^|_)(n|i|t)$",
    re.IGNORECASE,
)
"""What is called so that tells how far a run has come, even where it is kept among the options."""
_ROUNDS = re.compile(r"step|first|start|begin|warm|initial", re.IGNORECASE)
"""Likewise of what an object keeps for itself."""
_RUNNING = frozenset({Type.TENSOR, Type.MODULE, Type.OPTIMIZER, Type.SCHEDULER, Type.LOADER})
_ASKING = frozenset({"super", "isinstance", "hasattr", "getattr", "print", "id", "type", "repr", "str", "len", "__init__"})
"""What may be given an object without changing it, or does no more than its constructor."""
_PLAIN_BASES = ("builtins.", "abc.", "typing.", "torch.")
_FILLING = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "clear", "remove"}
)


class FixedConditions:
    """Tells which conditions the rounds of a loop do not change."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._kept: dict[tuple[ast.ClassDef, str], bool] = {}
        self._handed_on: dict[ast.ClassDef, bool] = {}

    def is_fixed(self, test: ast.expr, loop: Loop, scheduler: ast.expr) -> bool:
        """Whether a test asks for nothing but options, and whether there is a scheduler, which the rounds of a loop do not
        change.
        """
        if not all(isinstance(part, _PARTS) for part in ast.walk(test)):
            return False
        asked = [part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))]
        rounds = loop.body if isinstance(loop, ast.While) else [loop.target, *loop.body]
        changed = {last_name(part) for part in _changes(rounds)}
        if any(last_name(part) in changed for part in asked):
            return False
        within = self._semantics.tree.function(loop)
        if any(self._is_changed_elsewhere(part, within) for part in asked):
            return False
        return all(dotted(each) == dotted(scheduler) or self._is_kept(each, loop) for each in _asked_for(test))

    def _is_kept(self, asked: ast.expr, loop: Loop) -> bool:
        """Whether a value is one of the options, a constant, or one that an object of the file is made with and keeps."""
        match asked:
            case ast.Name():
                return self._is_constant(asked)
            case ast.Attribute(value=owner, attr=name) | ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                if _STATES.search(name):
                    return False
                if self._are_options(owner, name):
                    return not self._may_be_set(owner, name, loop)
                cls = self._semantics.facts.self_class(owner) if isinstance(asked, ast.Attribute) else None
                return cls is not None and self._keeps(cls, name)
        return False

    def _are_options(self, owner: ast.expr, name: str) -> bool:
        """Whether an object is one of options: called so, and no module of which a function may change the values."""
        chain = [part for part in ast.walk(owner) if isinstance(part, (ast.Name, ast.Attribute))]
        if not any(_OPTIONS.search(last_name(part)) for part in chain) or self._semantics.kind(owner).type in _RUNNING:
            return False
        bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        return name.isupper() or not any(each.form is Form.IMPORT for each in bindings)

    def _may_be_set(self, options: ast.expr, name: str, loop: Loop) -> bool:
        """Whether the rounds hand the options to somebody, and another file sets this one."""
        said = dotted(options)
        calls = (part for statement in loop.body for part in ast.walk(statement) if isinstance(part, ast.Call))
        if not said or not any(dotted(given) == said for call in calls for given in given_to(call)):
            return False
        return self._semantics.elsewhere.speaks_of(f"stores: {name}") is True

    def _is_constant(self, name: ast.Name) -> bool:
        """Whether a name has one value, a constant that is written out."""
        bindings = self._semantics.bindings.reaching(name)
        return len(bindings) == 1 and all(
            each.form is Form.ASSIGNMENT and not each.path and isinstance(each.value, ast.Constant) for each in bindings
        )

    def _keeps(self, cls: ast.ClassDef, name: str) -> bool:
        """Whether instances of a class keep an attribute that their constructor is given, or sets to a constant."""
        if (cls, name) not in self._kept:
            self._kept[cls, name] = self._is_never_replaced(cls, name)
        return self._kept[cls, name]

    def _is_never_replaced(self, cls: ast.ClassDef, name: str) -> bool:
        facts, replaced = self._semantics.facts, self._semantics.of(ReplacedAttributes)
        if _ROUNDS.search(name) or name in facts.method_names:
            return False
        classes = {base for each in facts.derived(cls) for base in facts.bases(each)}
        slots = [found.slots[name] for each in classes if name in (found := facts.classes[each]).slots]
        stores = [store for slot in slots for store in slot.stores]
        if not stores or any(slot.class_values for slot in slots) or not all(map(self._is_given, stores)):
            return False
        if not all(map(self._is_known, classes)) or any(map(self._is_handed_on, classes)):
            return False
        return not replaced.may_be_here(name, classes) and not replaced.may_be_elsewhere(name, classes)

    def _is_given(self, store: ast.AST) -> bool:
        """Whether a constructor stores a constant, or what is one of its parameters or a part of that."""
        function = self._semantics.tree.function(store)
        if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
            return False
        value = self._value(store)
        while isinstance(value, (ast.Attribute, ast.Subscript)):
            value = value.value
        if isinstance(value, ast.Name):
            return all(each.form is Form.PARAMETER for each in self._semantics.bindings.reaching(value))
        return isinstance(value, ast.Constant)

    def _value(self, store: ast.AST) -> ast.expr | None:
        """What an assignment stores to a target, which may be one of several."""
        parent = self._semantics.tree.parent(store)
        match parent, self._semantics.tree.parent(parent) if parent is not None else None:
            case (ast.Assign() | ast.AnnAssign()) as statement, _:
                return statement.value
            case ast.Tuple(elts=targets), ast.Assign(value=ast.Tuple(elts=values)) if len(targets) == len(values):
                return next(value for target, value in zip(targets, values) if target is store)
        return None

    def _is_known(self, cls: ast.ClassDef) -> bool:
        """Whether all bases of a class are classes of the file or the project, or of libraries that set nothing of others."""
        for base in cls.bases:
            name = self._semantics.qualified_name(base) or ""
            if self._semantics.facts.definition(base) is None and not name.startswith(_PLAIN_BASES):
                if not isinstance(self._semantics.elsewhere.target(base), ClassElsewhere):
                    return False
        return True

    def _is_handed_on(self, cls: ast.ClassDef) -> bool:
        """Whether a method of a class hands its instance to somebody: ``self.callback(self)``."""
        if cls not in self._handed_on:
            calls = (part for part in ast.walk(cls) if isinstance(part, ast.Call) and last_name(part.func) not in _ASKING)
            self._handed_on[cls] = any(is_self(given) for call in calls for given in given_to(call))
        return self._handed_on[cls]

    def _is_changed_elsewhere(self, part: ast.Name | ast.Attribute, within: ast.AST | None) -> bool:
        """Whether a function that the rounds may call gives what a test asks for another value, as far as names tell."""
        if isinstance(part, ast.Name) and part.id in self._declared:
            return True
        return any(function is not within for function in self._stores.get((type(part), last_name(part)), ()))

    @cached_property
    def _declared(self) -> set[str]:
        """The names that functions declare to be those of others."""
        tree = self._semantics.tree
        declarations: list[ast.Global | ast.Nonlocal] = [*tree.of_type(ast.Global), *tree.of_type(ast.Nonlocal)]
        return {name for each in declarations for name in each.names}

    @cached_property
    def _stores(self) -> dict[tuple[type[ast.AST], str], list[ast.AST]]:
        """The functions other than constructors that change attributes, or what is in names and attributes."""
        found: dict[tuple[type[ast.AST], str], list[ast.AST]] = {}
        functions: list[Function] = [
            *self._semantics.tree.of_type(ast.FunctionDef),
            *self._semantics.tree.of_type(ast.AsyncFunctionDef),
        ]
        for function in functions:
            if function.name == "__init__":
                continue
            for part in _changes(function.body):
                if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Load):  # else it is its own
                    found.setdefault((type(part), last_name(part)), []).append(function)
        return found


def _changes(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """What code stores to, stores items of, or fills."""
    for part in (part for node in nodes for part in ast.walk(node)):
        match part:
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield part
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                yield value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _FILLING:
                yield value


def _asked_for(test: ast.expr) -> Iterator[ast.expr]:
    """What a test asks for: of ``not self.args.plain and net is None`` the two values."""
    match test:
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _asked_for(part)
        case ast.UnaryOp(operand=part):
            yield from _asked_for(part)
        case ast.Compare(left=left, comparators=others):
            for part in (left, *others):
                yield from _asked_for(part)
        case ast.Constant():
            return
        case ast.expr():
            yield test
