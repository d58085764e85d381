"""Which tensors are columns, with a last axis of size 1, and which are vectors, with no axis but that of the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.scores.activations import Activations
from torchlint.semantics.shapes.ranks import Ranks
from torchlint.semantics.shapes.sizes import number

_DEPTH = 16


class Shape(Enum):
    """The last axes of a tensor."""

    COLUMN = "(B, 1)"
    VECTOR = "(B,)"


_KEEPING = frozenset(
    {
        *("sigmoid", "tanh", "relu", "softplus", "exp", "log", "sqrt", "abs", "pow", "clamp", "clip", "neg", "square", "round"),
        *(
            "float",
            "double",
            "half",
            "long",
            "int",
            "bool",
            "to",
            "cuda",
            "cpu",
            "type",
            "type_as",
            "detach",
            "clone",
            "logsigmoid",
        ),
        *("contiguous", "requires_grad_", "leaky_relu", "elu", "dropout", "sign", "ge", "gt", "le", "lt", "sub", "mul", "div"),
    }
)
"""Functions and methods that compute element by element; those of two tensors are given a number here."""
_OF_TWO = frozenset({"pow", "sub", "mul", "div", "ge", "gt", "le", "lt"})
_LAYERS = frozenset(
    {"Sigmoid", "Tanh", "ReLU", "LeakyReLU", "ELU", "Softplus", "Dropout", "Identity", "Hardtanh", "Hardsigmoid"}
)
_REDUCING = frozenset({"sum", "mean", "norm", "std", "var", "argmax", "argmin", "logsumexp", "prod"})
_SELECTING = frozenset({"max", "min"})
_MADE = frozenset({"torch.zeros", "torch.ones", "torch.rand", "torch.randn"})


class Columns:
    """Works out the last axes of one file's tensors, where a layer or an operation says so."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._activations = semantics.of(Activations)
        self._shapes: dict[ast.AST, Shape | None] = {}
        self._depth = 0

    def of(self, node: ast.expr) -> Shape | None:
        """The last axes of a tensor; ``None`` where they are others, or not known."""
        if node not in self._shapes:
            self._shapes[node] = None
            if self._depth < _DEPTH:
                self._depth += 1
                self._shapes[node] = self._work_out(node)
                self._depth -= 1
        return self._shapes[node]

    def _work_out(self, node: ast.expr) -> Shape | None:
        match node:
            case ast.Name():
                return self._agreed(map(self._bound, self._semantics.bindings.reaching(node))) or self._told(node)
            case ast.Attribute(attr="data", value=value) | ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=value):
                return self.of(value)
            case (
                ast.Attribute(attr="values", value=ast.Call() as call)
                | ast.Subscript(value=ast.Call() as call, slice=ast.Constant(0))
            ):
                return self._selected(call)
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                return self._combined(left, right)
            case ast.Call():
                return self._called(node)
        return None

    def _agreed(self, shapes: Iterable[Shape | None]) -> Shape | None:
        found = set(shapes)
        return found.pop() if len(found) == 1 else None

    # --- names -------------------------------------------------------------------------------------------------------

    def _bound(self, binding: Binding) -> Shape | None:
        if binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
            return self.of(binding.value)
        if binding.form is Form.ASSIGNMENT and binding.path == (0,) and isinstance(binding.value, ast.Call):
            return self._selected(binding.value)
        given = self._semantics.inference.given(binding)
        return self._agreed(self.of(each) if each is not None else None for each in given) if given else None

    def _told(self, name: ast.Name) -> Shape | None:
        """A vector: elsewhere the same value is made a column, and compared with one."""
        bindings = self._semantics.bindings.reaching(name)
        uses = [use for binding in bindings for use in binding.uses] if len(bindings) == 1 else []
        return Shape.VECTOR if any(use is not name and self._is_made_column(use) for use in uses) else None

    def _is_made_column(self, use: ast.Name) -> bool:
        tree = self._semantics.tree
        current: ast.AST = use
        made = False
        while True:
            parent = tree.parent(current)
            match parent:
                case ast.Attribute(attr=name) if isinstance(call := tree.parent(parent), ast.Call) and call.func is parent:
                    made = made or (name == "unsqueeze" and [number(each) for each in call.args] in ([1], [-1]))
                    if not made and name not in _KEEPING:
                        return False
                    current = call
                case ast.Call(args=[left, right]) if made and current in (left, right):
                    return self.of(left if current is right else right) is Shape.COLUMN
                case _:
                    return False

    # --- operations --------------------------------------------------------------------------------------------------

    def _combined(self, left: ast.expr, right: ast.expr) -> Shape | None:
        """What an operation on two values gives; a vector and something unknown give something as wide as the vector."""
        shapes = {self.of(left), self.of(right)}
        if shapes == {Shape.COLUMN, None}:
            other = right if self.of(left) else left
            return Shape.COLUMN if self._is_number(other) else None
        if Shape.VECTOR in shapes:
            return Shape.VECTOR if Shape.COLUMN not in shapes else None
        return Shape.COLUMN if shapes == {Shape.COLUMN} else None

    def _is_number(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self._semantics.kind(node).type is Type.NUMBER

    def _called(self, call: ast.Call) -> Shape | None:
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            short = name.rpartition(".")[2]
            if name in _MADE:
                return Shape.VECTOR if len(call.args) == 1 and self._is_length(call.args[0]) else None
            return self._operation(call, short, call.args[0], call.args[1:]) if call.args else None
        if isinstance(call.func, ast.Attribute) and (
            found := self._operation(call, call.func.attr, call.func.value, call.args)
        ):
            return found
        return self._module(call)

    def _is_length(self, size: ast.expr) -> bool:
        """Whether a size is one number, and not known to be none or one."""
        written = number(size)
        return self._semantics.kind(size).type is Type.NUMBER if written is None else written > 1

    def _operation(self, call: ast.Call, operation: str, tensor: ast.expr, arguments: list[ast.expr]) -> Shape | None:
        dims = [*arguments[:1], *(word.value for word in call.keywords if word.arg in ("dim", "axis"))]
        dim = number(dims[0]) if dims else None
        if operation in _KEEPING:
            is_plain = operation not in _OF_TWO or all(map(self._is_number, arguments))
            return self.of(tensor) if is_plain else None
        if operation == "squeeze":
            return Shape.VECTOR if self.of(tensor) is Shape.COLUMN and (not dims or dim in (1, -1)) else None
        if operation == "gather" and dim in (1, -1) and len(arguments) > 1:
            return Shape.COLUMN if _is_column_index(arguments[1]) else None
        if operation in ("view", "reshape") and [number(each) for each in arguments] == [-1]:
            return Shape.VECTOR if self.of(tensor) is Shape.COLUMN else None
        if operation == "flatten" and not arguments and not call.keywords:
            return Shape.VECTOR if self.of(tensor) is Shape.COLUMN else None
        if operation in _REDUCING and dim in (1, -1) and len(arguments) < 2 and not _keeps(call) and self._is_matrix(tensor):
            return Shape.VECTOR
        return None

    def _selected(self, call: ast.Call) -> Shape | None:
        """The values of ``q.max(1)`` and ``torch.max(q, 1)``."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _SELECTING or _keeps(call):
            return None
        is_function = (self._semantics.qualified_name(call.func) or "").startswith("torch.")
        tensor, arguments = (call.args[0], call.args[1:]) if is_function and call.args else (call.func.value, call.args)
        dims = [*arguments, *(word.value for word in call.keywords if word.arg == "dim")]
        is_one = len(dims) == 1 and number(dims[0]) in (1, -1)
        return Shape.VECTOR if is_one and self._is_matrix(tensor) else None

    def _is_matrix(self, tensor: ast.expr) -> bool:
        """Whether a tensor has two dimensions: by its making, or as what a linear layer makes of a batch."""
        if (rank := self._semantics.of(Ranks).of(tensor)) is not None:
            return rank == 2
        origin = self._activations.origin(tensor)
        made = origin.node if origin is not None and not origin.there else None
        names = {self._semantics.qualified_name(made.func) or "", self._semantics.kind(made.func).name} if made else set()
        return "torch.nn.Linear" in names

    # --- modules -----------------------------------------------------------------------------------------------------

    def _module(self, call: ast.Call) -> Shape | None:
        """What a module gives, or a function of the file."""
        definition = self._semantics.facts.definition(call.func)
        if isinstance(definition, FUNCTIONS):
            return self._returned(definition)
        made = list(self._activations.constructions(call.func))
        if self._semantics.kind(call.func).type is not Type.MODULE or not made:
            return None
        given = call.args[0] if call.args else None
        if given is not None and self._semantics.of(Ranks).of(given) == 1:
            return None
        return self._agreed(map(self._layer, made))

    def _layer(self, made: ast.expr) -> Shape | None:
        if not isinstance(made, ast.Call):
            return None
        name = self._semantics.qualified_name(made.func) or ""
        if name == "torch.nn.Linear":
            return Shape.COLUMN if _outputs(made) == 1 else None
        if name == "torch.nn.Sequential":
            for layer in reversed(made.args):
                if not isinstance(layer, ast.Call):
                    return None
                if (self._semantics.qualified_name(layer.func) or "").rpartition(".")[2] not in _LAYERS:
                    return self._layer(layer)
            return None
        definition = self._semantics.kind(made).definition
        forward = self._semantics.facts.method(definition, "forward") if isinstance(definition, ast.ClassDef) else None
        return self._returned(forward) if forward is not None else None

    def _returned(self, function: Function) -> Shape | None:
        if function.decorator_list:
            return None
        values = self._semantics.facts.returned(function)
        return self._agreed(self.of(value) if value is not None else None for value in values)


def _outputs(linear: ast.Call) -> int | None:
    """How many outputs a linear layer has, where that is written out."""
    given = [*linear.args[1:2], *(word.value for word in linear.keywords if word.arg == "out_features")]
    return number(given[0]) if len(given) == 1 else None


def _keeps(call: ast.Call) -> bool:
    return any(word.arg in ("keepdim", "keepdims", None) for word in call.keywords)


def _is_column_index(index: ast.expr) -> bool:
    """Whether an index is written as a column: ``actions.unsqueeze(1)``, ``actions.view(-1, 1)``, ``actions[:, None]``."""
    match index:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEPING:
            return _is_column_index(inner)
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[dim]):
            return number(dim) in (1, -1)
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[_, last]):
            return number(last) == 1
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.Constant(value=None)])):
            return True
    return False
