"""Where a value comes from, as far as the file shows all of it: through names, displays, and functions of the file."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.scopes import MANY
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, last_name, walk_body

_HARMLESS = frozenset(
    {
        "torch.no_grad",
        "torch.enable_grad",
        "torch.inference_mode",
        "builtins.staticmethod",
        "torch.autocast",
        "torch.cuda.amp.autocast",
    }
)
"""Decorators under which a function gives what its text returns."""
_READING = frozenset(
    f"builtins.{name}" for name in ("len", "print", "enumerate", "zip", "list", "tuple", "iter", "reversed", "sum")
)
"""Functions that read a list, and keep no hold of it."""
_LONGEST = 40
_DEEP = 30
"""What a list is made of at this depth is not followed any further."""


@dataclass(frozen=True, slots=True)
class Part:
    """What stands at ``path`` in the value of ``node``: ``(1, 0)`` is the first part of the second part.

    With ``exact``, the ``self`` of the method that ``node`` stands in is of that very class, and of no class derived from it.
    """

    node: ast.expr
    path: tuple[int, ...] = ()
    exact: bool = False


class Values:
    """Follows values back to the expressions that make them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._listing: set[ast.AST] = set()

    def bindings(self, name: ast.Name) -> tuple[Binding, ...]:
        """Everything that may have given ``name`` its value; empty where the file does not show it all."""
        found = self._semantics.bindings.reaching(name)
        return found if len(found) < MANY else ()

    def assigned(self, binding: Binding, *, exact: bool = False) -> Part | None:
        """What a plain assignment gives a name; ``None`` for every other binding."""
        if binding.form is not Form.ASSIGNMENT or binding.value is None:
            return None
        path = tuple(step for step in binding.path if step is not None)
        return Part(binding.value, path, exact) if len(path) == len(binding.path) else None

    def taken(self, part: Part) -> Part | None:
        """The element of a tuple or list that is written out, or the expression itself; ``None`` where it is another."""
        while part.path and isinstance(part.node, (ast.Tuple, ast.List)):
            elements, index = part.node.elts, part.path[0]
            if any(isinstance(element, ast.Starred) for element in elements) or not -len(elements) <= index < len(elements):
                return None
            part = Part(elements[index], part.path[1:], part.exact)
        return part

    def listed(self, node: ast.expr) -> list[ast.expr] | None:
        """Everything that may be in a list: written out, appended or added; ``None`` where there may be more."""
        if node in self._listing or len(self._listing) == _DEEP:
            return None
        self._listing.add(node)
        found = self._find_listed(node)
        self._listing.discard(node)
        return found

    def _find_listed(self, node: ast.expr) -> list[ast.expr] | None:
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                found: list[ast.expr] = []
                for element in elements:
                    inner = self.listed(element.value) if isinstance(element, ast.Starred) else [element]
                    if inner is None:
                        return None
                    found += inner
                return found
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                one, other = self.listed(left), self.listed(right)
                return None if one is None or other is None else one + other
            case ast.Name():
                found_in = [self._listed_by(binding) for binding in self.bindings(node)]
                if found_in and not any(each is None for each in found_in):
                    return [element for each in found_in for element in each or ()]
        return None

    def _listed_by(self, binding: Binding) -> list[ast.expr] | None:
        if binding.form not in (Form.ASSIGNMENT, Form.AUGMENTED) or binding.path or binding.value is None:
            return None
        found = self.listed(binding.value)
        if binding.before and binding.node not in self._listing and len(self._listing) < _DEEP:
            self._listing.add(binding.node)
            for before in binding.before:
                found = self._joined(found, self._listed_by(before))
            self._listing.discard(binding.node)
        elif binding.before:
            return None
        for use in binding.uses:
            found = self._joined(found, self._added_by(use))
        return found

    @staticmethod
    def _joined(one: list[ast.expr] | None, other: list[ast.expr] | None) -> list[ast.expr] | None:
        return None if one is None or other is None else one + other

    def _added_by(self, use: ast.Name) -> list[ast.expr] | None:
        """What a use of a list puts into it; ``None`` where that is not known."""
        tree = self._semantics.tree
        parent = tree.parent(use)
        match parent:
            case ast.Attribute(attr="append" | "extend" as method):
                call = tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent and len(call.args) == 1:
                    return [call.args[0]] if method == "append" else self.listed(call.args[0])
                return None
            case ast.Starred() | ast.For() | ast.comprehension() | ast.BinOp() | ast.Return():
                return []
            case ast.Subscript(ctx=ast.Load()):
                return []
            case ast.AugAssign(value=value) if value is use:
                return []
            case ast.Call(func=function) if use in parent.args:
                name = self._semantics.qualified_name(function) or ""
                return [] if name.startswith("torch.") or name in _READING else None
        return None

    def returned(self, function: Function) -> list[ast.expr] | None:
        """What calling a function of the file gives, ``None`` aside; ``None`` where that is not all that its text says."""
        if isinstance(function, ast.AsyncFunctionDef) or not all(map(self._is_harmless, function.decorator_list)):
            return None
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body)):
            return None
        found = [value for value in self._semantics.facts.returned(function) if value is not None]
        return found or None

    def _is_harmless(self, decorator: ast.expr) -> bool:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._semantics.qualified_name(target) in _HARMLESS

    def called(self, call: ast.Call) -> Function | None:
        """The function of the file that ``call`` is of, by its name, which stands for nothing else."""
        found = self._semantics.facts.definition(call.func)
        return found if isinstance(found, FUNCTIONS) else None


def index_of(node: ast.Subscript) -> int | None:
    """The number that something is indexed by, where it is written out."""
    match node.slice:
        case ast.Constant(value=int(index)) if not isinstance(index, bool):
            return index
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))):
            return -index
    return None


def shown(node: ast.expr) -> str:
    """An expression for a doubt's text; of what is long as little as tells it."""
    if node.lineno == node.end_lineno and (node.end_col_offset or 0) - node.col_offset <= 2 * _LONGEST:
        text = ast.unparse(node)
        if len(text) <= _LONGEST:
            return text
    if isinstance(node, ast.Call):
        name = dotted(node.func) or f"….{last_name(node.func)}"
        return f"{name}(…)" if len(name) <= _LONGEST else "…"
    return "…"
