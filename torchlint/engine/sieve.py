"""The sieve of statements: which of a file's statements each rule is shown.

Like the sieve of words before it, it is made of what rules declare. It looks at the `ast`; neither libcst
nor a rule is imported.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TypeVar

from torchlint.engine.words import Declared, Raw
from torchlint.rules.triggers import Api, Attribute, Call, Found, Keyword, Misspelt, Syntax, Trigger, Word, is_near
from torchlint.semantics import Semantics
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.code.units import Unit, place_of, unit_of

R = TypeVar("R", bound=Declared)


def triggered(semantics: Semantics, data: bytes, rules: Sequence[R], lenient: Collection[str] = ()) -> dict[Unit, list[R]]:
    """The statements and clauses that hold triggers, in the order of the text, each with the rules that are to be shown it.

    ``data`` are the bytes of the file: what its words rule out is not looked for. Of rules whose code is ``lenient``, what can
    only be strict is left out.
    """
    tree, raw = semantics.tree, Raw(data)
    triggers = [list(filter(raw.may_hold_trigger, rule.triggers)) for rule in rules]
    places = _Places(semantics, {trigger for of_rule in triggers for trigger in of_rule})
    found: dict[Unit, list[R]] = defaultdict(list)
    for rule, of_rule in zip(rules, triggers):
        is_lenient = rule.code in lenient
        nodes = (node for trigger in of_rule for node in places.of(trigger, is_lenient=is_lenient))
        for unit in dict.fromkeys(unit_of(tree, node) for node in nodes):
            found[unit].append(rule)
    return dict(sorted(found.items(), key=lambda item: place_of(item[0])))


class _Places:
    """Where triggers are in one file."""

    def __init__(self, semantics: Semantics, triggers: Iterable[Trigger]) -> None:
        self._semantics = semantics
        self._words: dict[str, list[ast.AST]] = {}
        self._near: dict[str, list[ast.AST]] = {}
        for trigger in triggers:
            if isinstance(trigger, Word):
                self._words.update((word, []) for word in trigger.names)
            elif isinstance(trigger, Misspelt):
                self._near[trigger.word] = []
        if self._words or self._near:
            self._look_for_words()
        self._by_name: dict[type[ast.AST], dict[str, list[ast.AST]]] = {}

    def of(self, trigger: Trigger, *, is_lenient: bool) -> Iterable[ast.AST]:
        """The nodes that are the trigger; those that are strict only where the rule is not lenient."""
        match trigger:
            case Word(names=names, within=within):
                found = (node for name in names for node in self._words[name])
                types = _ast_types(within)
                return [node for node in found if not types or isinstance(self._semantics.tree.statement(node), types)]
            case Misspelt(word=word):
                return self._near[word]
            case Call(names=names):
                return self._named(ast.Call, self._with_aliases(names))
            case Attribute(names=names):
                return self._named(ast.Attribute, names)
            case Keyword(names=names):
                return self._named(ast.keyword, names)
            case Api(names=names):
                return self._semantics.of(Spellings).references(names)
            case Syntax(types=types):
                return self._semantics.tree.of_type(*_ast_types(types))
            case Found(analysis=analysis, strict=strict):
                nodes = _found(analysis, self._semantics)
                return set(nodes).difference(_found(strict, self._semantics)) if nodes and strict and is_lenient else nodes
        raise TypeError(f"not a trigger: {trigger!r}")

    def _named(self, node_type: type[ast.AST], names: Iterable[str]) -> list[ast.AST]:
        table = self._by_name.get(node_type)
        if table is None:
            table = self._by_name[node_type] = defaultdict(list)
            for node in self._semantics.tree.of_type(node_type):
                table[_name_of(node)].append(node)
        return [node for name in names for node in table.get(name, ())]

    def _with_aliases(self, names: frozenset[str]) -> set[str]:
        """Names, and those that are bound to what they name: ``from torch import tensor as t``, ``t = torch.tensor``."""
        found, pending = set(names), list(names)
        while pending:
            new = self._aliases.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return found

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        """Names by the last names of what they are bound to."""
        aliases: dict[str, set[str]] = defaultdict(set)
        for alias in self._semantics.tree.of_type(ast.alias):
            if alias.asname is not None:
                aliases[alias.name.rpartition(".")[2]].add(alias.asname)
        for assignment in self._semantics.tree.of_type(ast.Assign):
            if isinstance(assignment.value, (ast.Name, ast.Attribute)):
                aliases[last_name(assignment.value)].update(filter(None, map(last_name, assignment.targets)))
        singles: list[ast.AnnAssign | ast.NamedExpr] = [*self._semantics.tree.of_type(ast.AnnAssign)]
        singles += self._semantics.tree.of_type(ast.NamedExpr)
        for single in singles:
            if isinstance(single.value, (ast.Name, ast.Attribute)) and (name := last_name(single.target)):
                aliases[last_name(single.value)].add(name)
        return aliases

    def _look_for_words(self) -> None:
        words, near = self._words, self._near
        for word, node in _words_in(self._semantics):
            if word in words:
                words[word].append(node)
            for right, nodes in near.items():
                if is_near(word, right):
                    nodes.append(node)


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Call(func=function):
            return last_name(function)
        case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return name
    return ""


def _words_in(semantics: Semantics) -> Iterator[tuple[str, ast.AST]]:
    tree = semantics.tree
    for attribute in tree.of_type(ast.Attribute):
        yield attribute.attr, attribute
    for name in tree.of_type(ast.Name):
        yield name.id, name
    for keyword in tree.of_type(ast.keyword):
        if keyword.arg is not None:
            yield keyword.arg, keyword
    for argument in tree.of_type(ast.arg):
        yield argument.arg, argument
    for constant in tree.of_type(ast.Constant):
        if isinstance(constant.value, str):
            yield constant.value, constant
    for alias in tree.of_type(ast.alias):
        for part in dict.fromkeys((*alias.name.split("."), alias.asname or "")):
            yield part, alias
    for function in tree.of_type(ast.FunctionDef):
        yield function.name, function
    for coroutine in tree.of_type(ast.AsyncFunctionDef):
        yield coroutine.name, coroutine
    for owner in tree.of_type(ast.ClassDef):
        yield owner.name, owner


_OTHER_NAMES = {
    "BooleanOperation": ("BoolOp",),
    "BinaryOperation": ("BinOp",),
    "UnaryOperation": ("UnaryOp",),
    "Comparison": ("Compare",),
    "Del": ("Delete",),
    "SimpleString": ("Constant",),
    "ConcatenatedString": ("Constant", "JoinedStr"),
    "FormattedString": ("JoinedStr",),
    "Integer": ("Constant",),
    "Float": ("Constant",),
    "For": ("For", "AsyncFor"),
    "With": ("With", "AsyncWith"),
    "FunctionDef": ("FunctionDef", "AsyncFunctionDef"),
}
"""Types of libcst that `ast` has other names for."""


@cache
def _ast_types(types: frozenset[str]) -> tuple[type[ast.AST], ...]:
    return tuple(getattr(ast, name) for each in sorted(types) for name in _OTHER_NAMES.get(each, (each,)))


def _found(analysis: str, semantics: Semantics) -> Collection[ast.AST]:
    made, attribute = analysis_of(analysis)
    found: Mapping[ast.AST, object] | Collection[ast.AST] = getattr(semantics.of(made), attribute)
    return found


@cache
def analysis_of(analysis: str) -> tuple[Callable[[Semantics], object], str]:
    """The class that a `Found` names, imported now if it has not been, and its attribute."""
    path, _, member = analysis.partition(":")
    module = importlib.import_module(f"torchlint.semantics{path}" if path.startswith(".") else path)
    class_name, _, attribute = member.partition(".")
    return getattr(module, class_name), attribute
