"""Values that have no graph by all that the file shows: data, what was cut off, and what is computed from such alone.

This is no certainty: what a loader gives is taken for data. It says where there is no reason to suspect a graph, by what values
are computed from, in the calls that the file has too; `graphs.likely.graphless` asks what a single value is by its looks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.semantics import Grad, Semantics, Type, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, given_to, last_name, position
from torchlint.semantics.graphs.frozen.results import FrozenResults
from torchlint.semantics.graphs.likely.graphless import COUNTED_FIGURES
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES

_DEEP = 6
"""So many names and calls are followed at most."""
_CUTTING = frozenset({"item", "tolist", "numpy", "detach", "argmax", "argmin", "argsort", "size", "dim", "numel", "eq", "ne"})
"""Methods whose result has no graph."""
_MOVING = frozenset(
    {"to", "cuda", "cpu", "float", "long", "double", "half", "int", "bool", "view", "reshape", "squeeze", "unsqueeze", "t"}
    | {"contiguous", "flatten", "permute", "transpose", "type", "clone", "next"}
)
"""Methods that give the same values in another form or place."""
_ASSIGNED = (Form.ASSIGNMENT, Form.AUGMENTED)
_WITHOUT_GRAPH = frozenset({Type.NUMBER, Type.STRING, Type.ARRAY, Type.NONE})
_HANDING_ON = frozenset(
    f"builtins.{name}" for name in ("zip", "enumerate", "sum", "list", "tuple", "reversed", "max", "min", "abs")
)
_CRITERION = re.compile(r"(^|_)(criterion|loss(_?fn|_?func|_?function)?)$", re.IGNORECASE)
"""What a loss is called that compares a result with its target."""
_OF_DATA = re.compile(r"load|data|batch", re.IGNORECASE)
"""What is called like this gives data when it is gone through."""


class PlainValues:
    """Tells of values whether anything may have given them a graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._leaves: dict[Binding, bool] = {}
        self._cut: dict[ast.stmt, list[tuple[ast.stmt, str]]] = {}
        """By the first statement of a block, what is cut off in it."""

    def is_plain(self, node: ast.expr, depth: int = _DEEP) -> bool:
        """Whether a value has no graph by all that the file shows."""
        kind = self._semantics.kind(node)
        if kind.type in _WITHOUT_GRAPH:
            return True
        if depth == 0 or kind.grad is Grad.LEAF or self._names_leaf(node):
            return False
        if kind.is_tensor and kind.grad is Grad.NONE:
            return True
        match node:
            case ast.Constant() | ast.Compare():
                return True
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return self.is_cut_before(node) or (
                    bool(bindings) and all(self._binds_plain(binding, depth - 1) for binding in bindings)
                )
            case ast.Attribute(value=owner, attr=name):
                return name == "data" or self.is_cut_before(node) or (name == "T" and self.is_plain(owner, depth))
            case ast.Call():
                return self._gives_plain(node, depth - 1)
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left, depth) and self.is_plain(right, depth)
            case ast.Subscript(slice=ast.Constant(value=str(key))) if kind.loose and COUNTED_FIGURES.fullmatch(key.lower()):
                return True  # of what a model gives, a nest of this and that: `out["acc"]`
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value) | ast.Starred(value=value):
                return self.is_cut_before(node) or self.is_plain(value, depth)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(self.is_plain(part, depth) for part in parts)
            case ast.IfExp(body=body, orelse=orelse):
                is_read = _is_number_of(body, orelse) or _is_number_of(orelse, body)
                return is_read or (self.is_plain(body, depth) and self.is_plain(orelse, depth))
        return False

    def _names_leaf(self, node: ast.expr) -> bool:
        """Whether an expression names a variable whose value is asked to require grad."""
        return any(self._is_made_leaf(binding) for name in _names(node) for binding in self._semantics.bindings.reaching(name))

    def _is_made_leaf(self, binding: Binding) -> bool:
        """Whether a variable's value is asked to require grad."""
        if binding not in self._leaves:
            parents = (self._semantics.tree.parent(use) for use in binding.uses)
            self._leaves[binding] = any(
                isinstance(parent, ast.Attribute) and parent.attr.startswith("requires_grad") for parent in parents
            )
        return self._leaves[binding]

    def _gives_plain(self, call: ast.Call, depth: int) -> bool:
        function = call.func
        name = self._semantics.qualified_name(function) or ""
        given = given_to(call)
        if any(word.arg == "requires_grad" for word in call.keywords):
            return False
        if name in LOSS_FUNCTIONS or self._semantics.kind(function).name in LOSS_MODULES:
            return bool(given) and self.is_plain(given[0], depth)
        if name.startswith("torch.") or name in _HANDING_ON or self._is_without_parameters(function):
            return bool(given) and all(self.is_plain(argument, depth) for argument in given)
        if self._is_given_criterion(function):
            return bool(given) and self._is_computed_unrecorded(given[0])
        if self._is_of_frozen(call):
            return True
        if isinstance(function, ast.Attribute):
            if function.attr in _CUTTING:
                return True
            is_method = function.attr in torch_api.TENSOR_ATTRIBUTES and self._semantics.kind(function.value).is_tensor
            return is_method and all(self.is_plain(argument, depth) for argument in (function.value, *given))
        return False

    def _is_of_frozen(self, call: ast.Call) -> bool:
        """Whether a call runs a frozen network on data, or a method of the same object that returns nothing else."""
        facts, results = self._semantics.facts, self._semantics.of(FrozenResults)
        function = call.func
        owner = facts.self_class(function.value) if isinstance(function, ast.Attribute) else None
        if owner is None or not isinstance(function, ast.Attribute):
            return results.is_graphless_run(call)
        method = facts.method(owner, function.attr)
        if method is None or method.decorator_list:
            return method is None and results.is_graphless_run(call)
        returned = facts.returned(method)
        return bool(returned) and all(each is not None and results.are(each) for each in returned)

    def _is_given_criterion(self, function: ast.expr) -> bool:
        """Whether a loss is called that the file gets from elsewhere, under its name."""
        kind = self._semantics.kind(function)
        is_own = kind.definition is not None or kind.classes_elsewhere or self._semantics.facts.definition(function) is not None
        return not is_own and _CRITERION.search(last_name(function)) is not None

    def _is_computed_unrecorded(self, value: ast.expr) -> bool:
        """Whether a variable holds what was computed where autograd was off: all that a loss computes of it has no graph."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        return bool(bindings) and all(
            each.form is Form.ASSIGNMENT and isinstance(each.value, ast.Call) and self._semantics.no_grad.covers(each.node)
            for each in bindings
        )

    def _is_without_parameters(self, function: ast.expr) -> bool:
        """Whether a module computes from its inputs alone: it is of a class that makes nothing of its own."""
        kind = self._semantics.kind(function)
        definition = kind.definition
        if kind.type is not Type.MODULE or not isinstance(definition, ast.ClassDef):
            return False
        methods = self._semantics.facts.classes[definition].methods
        bases = [self._semantics.qualified_name(base) for base in definition.bases]
        return bases == ["torch.nn.Module"] and methods.keys() == {"forward"}

    def _binds_plain(self, binding: Binding, depth: int) -> bool:
        match binding.form:
            case Form.LOOP if isinstance(binding.value, (ast.Name, ast.Attribute)) and _OF_DATA.search(
                last_name(binding.value)
            ):
                return True
            case Form.ASSIGNMENT | Form.LOOP if binding.value is not None:
                return self.is_plain(binding.value, depth)
            case Form.AUGMENTED if binding.value is not None:
                before = [self._binds_plain(other, depth - 1) for other in binding.before] if depth > 0 else []
                return bool(before) and all(before) and self.is_plain(binding.value, depth)
            case Form.PARAMETER:
                return self._is_given_plain(binding, depth)
        return False

    def _is_given_plain(self, binding: Binding, depth: int) -> bool:
        """Whether all calls of a function in the file, if there are any, give plain values for a parameter."""
        arguments = self._semantics.inference.given(binding)
        return bool(arguments) and all(argument is not None and self.is_plain(argument, depth) for argument in arguments)

    def is_computed(self, part: ast.expr) -> bool:
        """Whether a variable is assigned the result of a call or an operation, other than one that only moves data."""
        if not isinstance(part, ast.Name):
            return True
        values = [binding.value for binding in self._semantics.bindings.reaching(part) if binding.form in _ASSIGNED]
        return any(isinstance(_unmoved(value), (ast.Call, ast.BinOp, ast.IfExp)) for value in values if value is not None)

    def is_cut_before(self, node: ast.expr, part: ast.expr | None = None) -> bool:
        """Whether a value, or a ``part`` of it, was cut off its graph before: ``x.detach_()``, ``x["a"] = x["a"].detach()``.

        That is looked for among the statements before, in the same block and those around it, up to the loop.
        """
        text = ast.unparse(part or node)
        statement: ast.AST = self._semantics.tree.statement(node)
        while isinstance(statement, ast.stmt):
            block = self._semantics.tree.block(statement)
            if any(cut == text and position(other) < position(statement) for other, cut in self._cuts(block)):
                return True
            parent = self._semantics.tree.parent(statement)
            if parent is None or isinstance(parent, (*LOOPS, *FUNCTIONS, ast.Module)):
                return False
            statement = parent
        return False

    def _cuts(self, block: list[ast.stmt]) -> list[tuple[ast.stmt, str]]:
        """The statements of a block that cut something off its graph, for all that comes behind, and how it is spelled."""
        if block[0] not in self._cut:
            self._cut[block[0]] = [(each, text) for each in block if (text := _cut_off(each))]
        return self._cut[block[0]]


def _cut_off(statement: ast.stmt) -> str:
    """How that is spelled which a statement cuts off its graph; empty where it cuts nothing."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="detach_"))):
            return ast.unparse(owner)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=value) if _is_cut(value):
            return ast.unparse(target)
    return ""


def _is_number_of(read: ast.expr, value: ast.expr) -> bool:
    """Whether one arm takes the number of a tensor that the other gives as it is, where that is a number already."""
    match read:
        case (
            ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]) | ast.Call(func=ast.Name(id="float"), args=[inner])
        ):
            return ast.dump(inner) == ast.dump(value)
    return False


def _variable(node: ast.expr) -> str:
    return last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _unmoved(value: ast.expr) -> ast.expr:
    """``batch["y"]`` of ``Variable(batch["y"].long()).cuda()``."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVING:
                value = inner
            case ast.Call(func=ast.Name(id="Variable" | "next") | ast.Attribute(attr="Variable"), args=[inner, *_]):
                value = inner
            case _:
                return value


def _names(node: ast.expr) -> Iterator[ast.Name]:
    """The names in an expression, less those of what is cut off: `x.data`, `x.detach()`."""
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Name):
            yield part
        if not (isinstance(part, ast.expr) and _is_cut(part)):
            pending.extend(ast.iter_child_nodes(part))


def _is_cut(value: ast.expr) -> bool:
    match value:
        case ast.Attribute(attr="data"):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=method)):
            return method in ("detach", "item") or _is_cut(inner)
    return False
