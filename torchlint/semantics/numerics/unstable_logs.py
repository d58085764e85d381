"""Logarithms of what has overflowed or underflowed before: ``log(softmax(x))``, ``log(sigmoid(x))``, ``log(sum(exp(x)))``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Fact, all_of, known
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name, walk_body
from torchlint.semantics.numerics.saved_otherwise import SavedOtherwise
from torchlint.semantics.scores.activations import Activations
from torchlint.semantics.scores.outputs import Output

Node = TypeVar("Node")

STABLE = {"softmax": "log_softmax", "sigmoid": "logsigmoid", "sum": "logsumexp"}
"""What the logarithm is taken of, and the function that does both at once."""
_APIS = {
    **dict.fromkeys(("torch.softmax", "torch.nn.functional.softmax", "torch.special.softmax"), "softmax"),
    **dict.fromkeys(("torch.sigmoid", "torch.nn.functional.sigmoid", "torch.special.expit"), "sigmoid"),
    "torch.sum": "sum",
    "torch.log": "log",
    "torch.exp": "exp",
}
_BOUNDED = frozenset({"torch.arange", "torch.linspace", "torch.rand", "torch.zeros", "torch.ones"})
"""What gives numbers within bounds that the author has chosen."""
_DRAWN = frozenset({"torch.randn", "torch.randn_like"})
"""What gives numbers of which all are far from those whose exponential is too large or too small."""

_NARROW = frozenset({"tanh", "sigmoid", "sin", "cos", "hardtanh", "cosine_similarity", "softsign"})
"""What gives numbers that are no further than two from one another."""
_WIDEST = 40.0
"""So far apart may numbers be that are held within bounds: the smallest probability is some ``exp(-40)`` then, and no zero."""

_VIEWS = frozenset({"view", "reshape", "flatten", "unflatten", "transpose", "permute", "contiguous", "squeeze", "unsqueeze"})
_PICKS = frozenset({"gather", "index_select", "take_along_dim", "select", "narrow"})
"""Methods and functions that give some of the numbers of a tensor."""
_DRAWING = frozenset({"multinomial", "Categorical", "OneHotCategorical", "Bernoulli", "bernoulli", "choice", "choices"})
"""What draws by probabilities."""
_OUTPUTS = {Output.SOFTMAX: "softmax", Output.SIGMOID: "sigmoid"}
_SEARCHING = re.compile(r"(^|_)(beam|greedy|search|translate|decode_batch)(_|$)", re.IGNORECASE)
"""What functions are called that look for the words with the best score."""
_MOST_STEPS = 8
"""Through so many names and selections a value is followed."""
_CHANGED = re.compile(r"^requires_grad|[^_]_$")
"""Attributes by which a tensor is trained, or changed in place."""
_HALF = frozenset({"half", "float16", "bfloat16"})
_SHIFTING = frozenset({"sub", "subtract", "clamp", "clip", "clamp_", "sub_", "log_softmax", "logsigmoid"})


@dataclass(frozen=True, eq=False, slots=True)
class Unstable(Generic[Node]):
    """A logarithm of ``inner``, a call of the function that is named, on ``value``.

    ``of_method`` is whether that is called as a method; ``same`` is whether what does both at once gives the same result. The
    call stands in the logarithm itself if it ``is_direct``: no name is between them, and no change of shape. Where it
    ``is_far``, other code gives what is taken of it.
    """

    function: str
    inner: Node
    value: Node
    of_method: bool
    same: Fact
    is_direct: bool = True
    is_far: bool = False


class UnstableLogs:
    """Looks at the logarithms of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, Unstable[ast.expr]]:
        """The calls of ``log`` that are unstable."""
        found: dict[ast.Call, Unstable[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("log", ()):
            operand = self._operand(call, "log")
            if operand is None or call.keywords or len(call.args) > 1:
                continue
            inner = self._computed(operand)
            unstable = self._unstable(inner, is_direct=inner is operand) if isinstance(inner, ast.Call) else None
            unstable = unstable or self._through_code(call, operand)
            if unstable is not None and not self._is_ranked(call):
                unchanged = self._semantics.of(SavedOtherwise).is_unchanged(call, unstable.function, unstable.value)
                found[call] = replace(unstable, same=unstable.same & unchanged)
        return found

    def _through_code(self, log: ast.Call, operand: ast.expr) -> Unstable[ast.expr] | None:
        """A logarithm of what functions and models give that end in a softmax or a sigmoid, or of some numbers of that."""
        if self._semantics.no_grad.covers(log) or self._is_search(self._semantics.tree.function(log)):
            return None
        value = self._picked_from(operand)
        if value is not operand and self._is_drawn_from(value):
            return None
        origin = self._semantics.of(Activations).origin(value)
        if origin is None or origin.output not in _OUTPUTS or any(word.arg in ("out", None) for word in origin.node.keywords):
            return None
        if origin.operand is not None and self._is_bounded(self._computed(origin.operand)):
            return None
        function = _OUTPUTS[origin.output]
        return Unstable(function, origin.node, value, False, self._same(function, origin.node, value), False, is_far=True)

    def _is_search(self, function: ast.AST | None) -> bool:
        """Whether a function looks for the best words, and learns nothing: what cannot be has minus infinity for its score."""
        if not isinstance(function, FUNCTIONS) or _SEARCHING.search(function.name) is None:
            return False
        return not any(isinstance(part, ast.Call) and last_name(part.func) == "backward" for part in walk_body(function.body))

    def _is_drawn_from(self, probabilities: ast.expr) -> bool:
        """Whether what is picked may have been drawn by the same probabilities: then it has none of zero."""
        bindings = self._semantics.bindings.reaching(probabilities) if isinstance(probabilities, ast.Name) else ()
        around = (parent for each in bindings for use in each.uses for parent in self._semantics.tree.ancestors(use))
        return any(isinstance(parent, ast.Call) and last_name(parent.func) in _DRAWING for parent in around)

    def _picked_from(self, value: ast.expr) -> ast.expr:
        """The tensor that a value is some numbers of: ``p`` of ``p.gather(1, a).squeeze(1)``, also by names."""
        for _ in range(_MOST_STEPS):
            match self._computed(value):
                case ast.Subscript(value=owner) if self._semantics.kind(owner).is_tensor:
                    value = owner
                case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) as call if name in _PICKS and (
                    self._semantics.qualified_name(call.func) == f"torch.{name}"
                ):
                    value = first
                case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _PICKS or name in _VIEWS:
                    value = owner
                case _:
                    break
        return value

    def _is_ranked(self, log: ast.Call) -> bool:
        """Whether only the place of the largest is asked for, of which the logarithm changes nothing; also by a name for it."""
        parent = self._semantics.tree.parent(log)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
            return self._gives_place(log)
        binding = self._semantics.bindings.of(parent.targets[0])
        uses = binding.uses if binding is not None else []
        read = [use for use in uses if not self._is_overwritten(use)]
        return bool(read) and all(map(self._gives_place, read))

    def _is_overwritten(self, use: ast.expr) -> bool:
        """Whether a use of a tensor gives some of its numbers other values."""
        around = self._semantics.tree.parent(use)
        while isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Load):
            around = self._semantics.tree.parent(around)
        return isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Store)

    def _gives_place(self, value: ast.expr) -> bool:
        """Whether only the place of a largest number is made of a value: ``x.argmax(1)``, ``_, i = x.max(1)``."""
        tree = self._semantics.tree
        parent = tree.parent(value)
        call = tree.parent(parent) if isinstance(parent, ast.Attribute) else parent
        if not isinstance(call, ast.Call) or value not in (*call.args[:1], getattr(call.func, "value", None)):
            return False
        if last_name(call.func) in ("argmax", "argsort"):
            return True
        match tree.parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id="_"), _])]):
                return last_name(call.func) in ("max", "sort", "topk")
        return False

    def _computed(self, value: ast.expr) -> ast.expr:
        """What a name was given, where that is one value; anything else itself."""
        return self._semantics.bindings.assigned(value) or value

    def _unstable(self, inner: ast.Call, *, is_direct: bool) -> Unstable[ast.expr] | None:
        for function in STABLE:
            value = self._operand(inner, function)
            if value is None or any(word.arg in ("out", None) for word in inner.keywords):
                continue
            if function == "sum":
                summed = _viewed(value)
                is_direct = is_direct and summed is value
                value = self._operand(summed, "exp") if isinstance(summed, ast.Call) else None
                if value is None or self._is_shifted(value) or self._has_zero_for_largest(value):
                    continue
            if self._is_bounded(self._computed(value)):
                continue
            same = self._same(function, inner, value)
            return Unstable(function, inner, value, self._is_method(inner), same, is_direct)
        return None

    def _is_bounded(self, value: ast.expr) -> bool:
        """Whether the author has chosen the numbers: they are written out, or are a range."""
        name = self._semantics.qualified_name(getattr(value, "func", value))
        if name in ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor"):
            return isinstance(value, ast.Call) and bool(value.args) and all(map(_is_written, value.args))
        if self._is_held_in(value):
            return True
        return name in _BOUNDED or (name in _DRAWN and isinstance(value, ast.Call) and not self._may_change(value))

    def _is_held_in(self, value: ast.expr) -> bool:
        """Whether a function holds numbers within bounds that are so near that no probability of theirs becomes zero."""
        if not isinstance(value, ast.Call):
            return False
        is_of_torch = (self._semantics.qualified_name(value.func) or "").startswith("torch.")
        if not is_of_torch and not isinstance(value.func, ast.Attribute):
            return False
        if last_name(value.func) in _NARROW:
            return is_of_torch or not value.args
        if last_name(value.func) not in ("clamp", "clip"):
            return False
        given = value.args[1:] if is_of_torch else value.args
        words = {word.arg: word.value for word in value.keywords}
        low, high = (_number(each) for each in [*given, *(words.get(word) for word in ("min", "max")[len(given) :])][:2])
        return low is not None and high is not None and high - low <= _WIDEST

    def _may_change(self, drawn: ast.Call) -> bool:
        """Whether numbers may be trained: their call asks for a gradient, or they have a name that is used so or changed."""
        if any(word.arg in ("requires_grad", None) for word in drawn.keywords):
            return True
        tree = self._semantics.tree
        match tree.parent(drawn):
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                parents = map(tree.parent, binding.uses if binding is not None else ())
                return any(isinstance(each, ast.Attribute) and _CHANGED.search(each.attr) for each in parents)
            case ast.Attribute(attr=name):
                return _CHANGED.search(name) is not None
        return False

    def _is_shifted(self, value: ast.expr) -> bool:
        """Whether something is subtracted from what an exponential is taken of, or it is bounded: perhaps the largest."""
        given = [value]
        if isinstance(value, ast.Name):  # on any of the ways there
            given += [each.value for each in self._semantics.bindings.reaching(value) if each.value is not None]
        for part in (part for each in given for part in ast.walk(each)):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
                return True
            if isinstance(part, ast.Attribute) and part.attr in _SHIFTING:
                return True
        return False

    def _has_zero_for_largest(self, value: ast.expr) -> bool:
        """Whether numbers are at most zero, and each row has one: squares of the distances of points among themselves, less
        than nothing, ``-torch.cdist(x, x) ** 2 / 4``.
        """
        is_negative = is_squared = False
        for _ in range(_MOST_STEPS):
            match self._computed(value):
                case ast.UnaryOp(op=ast.USub(), operand=inner) if not is_squared:
                    is_negative, value = not is_negative, inner
                case ast.BinOp(op=ast.Mult() | ast.Div(), left=inner, right=factor) if _is_positive(factor):
                    value = inner
                case ast.BinOp(op=ast.Mult(), left=factor, right=inner) if _is_positive(factor):
                    value = inner
                case (
                    ast.BinOp(op=ast.Pow(), left=inner, right=power)
                    | ast.Call(func=ast.Attribute(value=inner, attr="pow"), args=[power], keywords=[])
                ) if _is_positive(power):
                    is_squared, value = True, inner
                case ast.Call(func=function, args=[one, other]) if self._semantics.qualified_name(function) == "torch.cdist":
                    return is_negative and ast.dump(one) == ast.dump(other) and not isinstance(one, ast.Call)
                case _:
                    return False
        return False

    def _operand(self, call: ast.Call, function: str) -> ast.expr | None:
        """What a function is called on, as a function of torch or as a method of a tensor; ``None`` for other calls."""
        name = self._semantics.qualified_name(call.func) or ""
        if _APIS.get(name) == function:
            return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
        if not name.startswith(("torch.", "numpy.", "math.")) and isinstance(call.func, ast.Attribute):
            if call.func.attr == function and self._is_tensor(call.func.value):
                return call.func.value
        return None

    def _is_method(self, call: ast.Call) -> bool:
        return _APIS.get(self._semantics.qualified_name(call.func) or "") is None

    def _is_tensor(self, owner: ast.expr) -> bool:
        """Whether a method is one of a tensor's: it is known to be one, or is the result of a function that gives one."""
        return self._semantics.kind(owner).is_tensor

    def _same(self, function: str, inner: ast.Call, value: ast.expr) -> Fact:
        """Whether what does both at once gives the same, but where the numbers are too large or too small."""
        kind = self._semantics.kind(value)
        has_dim = function == "sigmoid" or self._has_dim(inner)
        return all_of(
            known(has_dim, "the dimension is not said"),
            known(function == "softmax" or kind.carries_graph, f"`{ast.unparse(value)}` may hold integers"),
            known(not self._semantics.words.all & _HALF, "in half precision, two steps are rounded otherwise than one"),
        )

    def _has_dim(self, inner: ast.Call) -> bool:
        place = 0 if self._is_method(inner) else 1
        return len(inner.args) > place or any(word.arg == "dim" for word in inner.keywords)


def _viewed(value: ast.expr) -> ast.expr:
    """What has been given another shape: ``x.exp()`` of ``x.exp().view(2, -1)``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _VIEWS:
        value = value.func.value
    return value


def _is_written(value: ast.expr) -> bool:
    """Whether the numbers of a tensor are written out."""
    match value:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return bool(items) and all(map(_is_written, items))
        case ast.UnaryOp(operand=ast.Constant()):
            return True
    return isinstance(value, ast.Constant) and isinstance(value.value, float)


def _number(value: ast.expr | None) -> float | None:
    """A number that is written out, or a sum or difference of two; ``None`` for anything else."""
    match value:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            positive = _number(inner)
            return None if positive is None else -positive
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            one, other = _number(left), _number(right)
            if one is not None and other is not None:
                return one + other if isinstance(operator, ast.Add) else one - other
    return None


def _is_positive(value: ast.expr) -> bool:
    """Whether a number above zero is written out."""
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and value.value > 0
