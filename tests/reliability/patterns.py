"""The patterns of the package, and texts that are hostile to each, made from its own parse tree.

What makes an engine that back-tracks slow is a repetition that it can divide in several ways, and an end that never comes. So
for each repetition in a pattern there are texts that begin as the pattern does, go on with what the repetition repeats, a great
many times over, and end in what the pattern does not want. A new pattern is found by being in the package, and needs nothing
here, unless it is made of what only a function knows.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torchlint

FUNCTIONS = frozenset({"compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"})
_ANY = [chr(code) for code in range(128)] + ["é", "\u2028", "\u3000"]
_FEW = 5
"""How many ways are tried in which one thing can be spelt."""
_ENDS = ("", "\0", "\n", "x ", "'")


@dataclass(frozen=True)
class Used:
    """A pattern, where it is, and what it is used for."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def package_patterns(of_functions: Mapping[str, Sequence[Any]]) -> Iterator[Used]:
    """Every pattern of the package; ``of_functions`` has those that are made of what only a function knows, by their places."""
    for found in pkgutil.walk_packages(torchlint.__path__, "torchlint."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        assert module.__file__ is not None
        text = Path(module.__file__).read_text(encoding="utf-8")
        held = [(name, pattern) for name, value in vars(module).items() for pattern in _within(value)]
        if not held and "re." not in text:
            continue
        tree = ast.parse(text)
        methods: dict[str, set[str]] = {}
        for node in ast.walk(tree) if held else ():
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
                name = ast.unparse(node.value).rpartition(".")[2].partition("[")[0]
                methods.setdefault(name, set()).add(node.attr)
        for name, pattern in held:
            yield Used(f"{found.name}.{name}", pattern, frozenset(methods.get(name, ())))
        for function, call in _calls(tree) if "re." in text else ():
            assert isinstance(call.func, ast.Attribute)
            place = f"{found.name}.{function}"
            used = frozenset({call.func.attr} - {"compile"})
            try:
                made = [eval(compile(ast.Expression(call.args[0]), place, "eval"), dict(vars(module)))]
            except NameError:
                assert place in of_functions, f"say what the patterns in {place} are made of"
                made = list(of_functions[place])
            yield from (Used(place, re.compile(each), used) for each in made)


def _within(value: object) -> Iterator[re.Pattern[Any]]:
    """The patterns that a value is, or holds."""
    match value:
        case re.Pattern():
            yield value
        case dict():
            yield from (pattern for each in value.values() for pattern in _within(each))
        case list() | tuple() | set() | frozenset():
            yield from (pattern for each in value for pattern in _within(each))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls of functions of `re` that are given a pattern, and the function that each stands in."""
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        function, node = pending.pop()
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=name), args=[_, *_]) if name in FUNCTIONS:
                yield function, node
            case ast.FunctionDef(name=name):
                function = name
        pending += [(function, child) for child in ast.iter_child_nodes(node)]


# --- hostile texts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is made to cost a pattern dear, in any length."""

    before: str
    repeated: str
    after: str

    def of(self, length: int) -> str:
        """The text with about ``length`` characters."""
        return self.before + self.repeated * (length // len(self.repeated)) + self.after


def hostile(pattern: re.Pattern[Any]) -> list[Text]:
    """Texts that are made to cost a pattern dear."""
    flags = pattern.flags & ~re.LOCALE
    tree = parser.parse(pattern.pattern, flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else flags)
    pumped = (
        (parts, end)
        for prefix, pump in _pumped(list(tree), "")
        for parts in ((prefix, pump), ("", prefix + pump))
        for end in _ENDS
    )
    return list(dict.fromkeys(Text(before, repeated, end) for (before, repeated), end in pumped))


def _pumped(items: Sequence[Any], prefix: str) -> Iterator[tuple[str, str]]:
    """For each repetition what may stand before it, and what it repeats."""
    for operator, argument in items:
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, most, body = argument
            if most is sre.MAXREPEAT or most > 100:
                ways = [each for each in _spelt(body) if each]
                yield from ((prefix, each) for each in ways)
                yield from ((prefix, one + other) for one in ways for other in ways if one != other)
            yield from _pumped(body, prefix)
        for inner in _inner(operator, argument):
            yield from _pumped(inner, prefix)
        prefix += next(_spelt([(operator, argument)]), "")


def _inner(operator: Any, argument: Any) -> Iterator[Sequence[Any]]:
    """The parts of a pattern that one of its nodes holds."""
    if operator is sre.SUBPATTERN:
        yield argument[3]
    elif operator is sre.ATOMIC_GROUP:
        yield argument
    elif operator is sre.BRANCH:
        yield from argument[1]
    elif operator in (sre.ASSERT, sre.ASSERT_NOT):
        yield argument[1]


def _spelt(items: Sequence[Any]) -> Iterator[str]:
    """Some texts that a part of a pattern matches."""
    texts = [""]
    for operator, argument in items:
        texts = list(islice((text + way for way in _ways(operator, argument) for text in texts), _FEW))
    yield from texts


def _ways(operator: Any, argument: Any) -> list[str]:
    match operator:
        case sre.LITERAL:
            return [chr(argument)]
        case sre.NOT_LITERAL:
            return [each for each in _ANY[32:] + _ANY[:32] if ord(each) != argument][:_FEW]
        case sre.ANY:
            return ["a", " ", "'", "#", "\n"]
        case sre.IN:
            return _of_set(argument)
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            least, most, body = argument
            ways = list(islice(_spelt(body), _FEW))
            return [each * max(least, 1) for each in ways if most] + ([""] if not least else [])
        case _:
            if operator in (sre.ASSERT, sre.ASSERT_NOT):
                return [""]
            return [each for inner in _inner(operator, argument) for each in islice(_spelt(inner), _FEW)] or [""]


def _of_set(members: Sequence[Any]) -> list[str]:
    """Some of the characters of a set, of each of its parts one at least."""
    named = {sre.CATEGORY_DIGIT: "0", sre.CATEGORY_WORD: "a_0", sre.CATEGORY_SPACE: " \t\n\r", sre.CATEGORY_NOT_SPACE: "a#'("}
    named |= {sre.CATEGORY_NOT_DIGIT: "a ", sre.CATEGORY_NOT_WORD: " .'"}
    chosen: list[str] = []
    for operator, argument in members:
        match operator:
            case sre.LITERAL:
                chosen.append(chr(argument))
            case sre.RANGE:
                chosen += [chr(argument[0]), chr(argument[1])]
            case sre.CATEGORY:
                chosen += named[argument]
    if members[0][0] is sre.NEGATE:
        ranges = [argument for operator, argument in members if operator is sre.RANGE]
        excluded = {*chosen} | {each for each in _ANY if any(low <= ord(each) <= high for low, high in ranges)}
        categories = [argument for operator, argument in members if operator is sre.CATEGORY]
        excluded |= {each for each in _ANY if each.isspace() and sre.CATEGORY_SPACE in categories}
        excluded |= {each for each in _ANY if (each.isalnum() or each == "_") and sre.CATEGORY_WORD in categories}
        preferred = ["a", " ", "0", "\t", "#", "'", *_ANY]
        return [each for each in dict.fromkeys(preferred) if each not in excluded][: _FEW + 1]
    return chosen
