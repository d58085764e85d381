"""Changes to a program that mean nothing to Python, or only to its reader."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import layout
from grammar import Choice

from torchlint.text.source import tree_of

Mutation = Callable[[str, Choice], str]
Span = tuple[int, int]
Place = tuple[int, int]

_STRING = re.compile(r"(?P<prefix>[rRbBuU]*)(?P<quote>['\"])(?P<body>[^'\"\\\n{}]*)(?P=quote)")


def offsets(text: str) -> Callable[[int, int], int]:
    """What gives the offset of a row, from 1, and a column in UTF-8 bytes, from 0."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    lines = text.split("\n")
    return lambda row, column: starts[row - 1] + len(lines[row - 1].encode()[:column].decode())


def span(node: ast.expr | ast.stmt | ast.arg, offset: Callable[[int, int], int]) -> Span:
    """The span of a node."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)


def parenthesized(text: str, choice: Choice, one_in: int = 4) -> str:
    """With redundant parentheses around expressions."""
    tree = tree_of(text)
    offset = offsets(text)
    chosen = [span(node, offset) for node in _operands(tree) if choice.one_in(one_in)]
    inserted = [(start, 1, "(") for start, _ in chosen] + [(end, 0, ")") for _, end in chosen]
    for place, _, parenthesis in sorted(inserted, reverse=True):
        text = text[:place] + parenthesis + text[place:]
    return text


def _operands(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions around which parentheses may stand: those that are read, outside of f-strings and patterns."""
    if isinstance(node, (ast.JoinedStr, ast.pattern)):
        return
    for name, value in ast.iter_fields(node):
        if isinstance(node, ast.AnnAssign) and name == "target":
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            wrapped = isinstance(child, ast.expr) and not isinstance(child, (ast.Slice, ast.Starred, ast.GeneratorExp))
            loaded = isinstance(getattr(child, "ctx", None) or ast.Load(), ast.Load)
            sliced = isinstance(node, ast.Subscript) and name == "slice" and isinstance(child, ast.Tuple)
            if wrapped and loaded and not sliced and (name, type(node)) != ("value", ast.Expr) and name != "decorator_list":
                assert isinstance(child, ast.expr)
                yield child
            yield from _operands(child)


def requoted(text: str, choice: Choice) -> str:
    """With the other quotes around plain strings."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    edits = []
    strings = 0
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        strings += (tokenize.tok_name[token.type] == "FSTRING_START") - (tokenize.tok_name[token.type] == "FSTRING_END")
        match = _STRING.fullmatch(token.string) if token.type == tokenize.STRING and not strings else None
        if match is not None:
            quote = {"'": '"', '"': "'"}[match["quote"]]
            start = starts[token.start[0] - 1] + token.start[1]
            edits.append((start, start + len(token.string), f"{match['prefix']}{quote}{match['body']}{quote}"))
    return layout.edited(text, edits)


def aliased(text: str, choice: Choice) -> str:
    """With ``import torch as th`` for ``import torch``, and so on: the names that are bound by imports and nothing else."""
    tree = tree_of(text)
    offset = offsets(text)
    for imported, bound, new in (("torch", "torch", "th"), ("torch.nn", "nn", "neural"), ("numpy", "np", "numeric")):
        statements = [
            node
            for node in tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom)) and _imports(node) == [(imported, bound)]
        ]
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == bound]
        if (
            not statements
            or _occurrences(tree, bound) != len(names) + len(statements)
            or _in_strings(tree, bound)
            or _occurrences(tree, new)
        ):
            continue
        edits = [(*span(statement, offset), f"import {imported} as {new}") for statement in statements]
        edits += [(*span(name, offset), new) for name in names if not _within_fstring(tree, name)]
        if not any(_within_fstring(tree, name) for name in names):
            text = layout.edited(text, edits)
            tree, offset = tree_of(text), offsets(text)
    return text


def _imports(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [(prefix + alias.name, alias.asname or alias.name) for alias in node.names]


def _occurrences(tree: ast.AST, name: str) -> int:
    """How often a name is used or bound in any way."""
    count = 0
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=found) | ast.arg(arg=found) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
                count += found == name
            case ast.alias(name=found, asname=other):
                count += (other or found).partition(".")[0] == name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                count += name in names
            case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found):
                count += found == name
    return count


def _in_strings(tree: ast.AST, name: str) -> bool:
    """Whether a string annotation may use a name."""
    word = re.compile(rf"\b{name}\b")
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(word.search(string) and "\n" not in string for string in strings)


def _within_fstring(tree: ast.AST, name: ast.Name) -> bool:
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return any(name is inner for string in strings for inner in ast.walk(string))


def renamed(text: str, choice: Choice, one_in: int = 2) -> str:
    """With other names for local variables of functions, where nobody else can see them."""
    tree = tree_of(text)
    offset = offsets(text)
    edits: list[tuple[int, int, str]] = []
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_entangled(function):
            continue
        stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        taken = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        for number, name in enumerate(sorted(stored - taken)):
            names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
            if choice.one_in(one_in) and _occurrences(function, name) == len(names) and name != "_":
                edits += [(*span(node, offset), f"v{number}_") for node in names]
    return layout.edited(text, edits)


def _is_entangled(function: ast.AST) -> bool:
    """Whether a function has scopes, f-strings or names of its own that make renaming harder than it is worth."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.JoinedStr, ast.Global, ast.Nonlocal)
    calls = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & {"locals", "vars", "exec", "eval"}
    nodes = list(ast.walk(function))[1:]
    return bool(calls) or any(isinstance(node, (*inner, ast.Import, ast.ImportFrom, ast.MatchAs)) for node in nodes)


def prefixed(text: str, choice: Choice) -> str:
    """With characters beyond the basic plane in front of statements."""
    starts = [start for start in layout.logical_lines(text) if choice.one_in(3)]
    simple = [start for start in starts if re.compile(r"[ \t]*\w+[\w.]*(?:\(|\.| =)").match(text, start)]
    safe = [
        start for start in simple if not re.compile(r"[ \t]*(?:from|import|return|raise|else|elif|case)\b").match(text, start)
    ]
    return layout.edited(
        text, [(start + len(_indent(text, start)), start + len(_indent(text, start)), "'😀𝔘é'; ") for start in safe]
    )


def _indent(text: str, start: int) -> str:
    match = re.compile(r"[ \t\f]*").match(text, start)
    return match.group() if match else ""


# --- what findings are about -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a module, numbered in the order of `ast.walk`, each with where it starts and ends."""

    spans: list[tuple[Place, Place]]

    @classmethod
    def of(cls, tree: ast.Module) -> Statements:
        spans = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.stmt, ast.ExceptHandler)):
                assert node.end_lineno is not None and node.end_col_offset is not None
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
                start = (first, node.col_offset if first == node.lineno else 0)
                spans.append((start, (node.end_lineno, node.end_col_offset)))
        return cls(spans)

    def at(self, place: Place) -> int:
        """The number of the innermost statement at a place, a row, from 1, and a column in UTF-8 bytes, from 0."""
        around = [number for number, (start, end) in enumerate(self.spans) if start <= place <= end]
        return max(around, key=lambda number: (self.spans[number][0], number), default=-1)


def same_program(one: str, other: str) -> bool:
    """Whether two texts have the same syntax tree."""
    try:
        return ast.dump(tree_of(one)) == ast.dump(tree_of(other))
    except (SyntaxError, ValueError):
        return False


MUTATIONS: Sequence[tuple[str, Mutation, bool]] = (
    ("spaces", layout.spaced, True),
    ("spaces everywhere", partial(layout.spaced, one_in=1), True),
    ("breaks", layout.broken, True),
    ("breaks everywhere", partial(layout.broken, one_in=1), True),
    ("comments in brackets", layout.interrupted, True),
    ("comments in brackets everywhere", partial(layout.interrupted, one_in=1), True),
    ("continuations", layout.continued, True),
    ("continuations everywhere", partial(layout.continued, one_in=1), True),
    ("blank lines", layout.parted, True),
    ("trailing spaces", layout.trailing, True),
    ("comments", layout.commented, True),
    ("parentheses", parenthesized, True),
    ("parentheses everywhere", partial(parenthesized, one_in=1), True),
    ("quotes", requoted, True),
    ("aliases", aliased, False),
    ("names", renamed, False),
)
"""Each mutation, and whether it leaves the syntax tree as it was."""
