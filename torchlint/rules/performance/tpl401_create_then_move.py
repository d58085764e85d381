from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.arguments import add_keywords, keyword_of, set_keyword
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import DEEPEST, GAP, Screen
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.devices.placement import CASTING_METHODS, Placement, Placements
from torchlint.target import TorchVersion
from torchlint.text.source import Source

_EXACT = frozenset({"zeros", "ones", "empty", "eye", "zeros_like", "ones_like", "empty_like"})
_EXACT_METHODS = frozenset({"new_zeros", "new_ones", "new_empty"})
_FILLED = frozenset({"full", "full_like", "scalar_tensor"})
_INDICES = frozenset({"tril_indices", "triu_indices"})
_COMPUTED = frozenset(
    {*("linspace", "logspace"), *("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")}
)
_RANDOM_FLOATS = frozenset({"rand", "randn", "rand_like", "randn_like"})
_RANDOM_INTEGERS = frozenset({"randint", "randperm", "randint_like"})
_FACTORIES = frozenset({*_EXACT, *_FILLED, *_INDICES, *_COMPUTED, *_RANDOM_FLOATS, *_RANDOM_INTEGERS, "arange", "tensor"})
_METHODS = frozenset({*_EXACT_METHODS, "new_full"})
_LIKE = frozenset({name for name in _FACTORIES if name.endswith("_like")} | _METHODS)
"""Factories that take their dtype and device from another tensor, which is mostly where it is wanted."""

_PLACED = _LIKE | {"tensor"}
"""Factories whose result a move need not copy, or whose data has to be copied anyway."""

_STEPS = frozenset({*CASTING_METHODS, "cuda", "to", "type", "type_as"})
_SHAPING = frozenset(
    {
        *("view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "repeat", "tile", "flatten", "contiguous"),
        *("t", "transpose", "permute", "view_as", "reshape_as", "unflatten"),
    }
)
_EXPANDING = frozenset({"expand", "expand_as"})
_FILLING = frozenset({"fill_", "zero_"})
_RANDOM_FILLING = frozenset({"normal_", "uniform_", "random_", "bernoulli_", "exponential_"})
_CPU = re.compile(r"""^(?:torch\.device\()?["']cpu["']\)?$""")
_FLOATS = frozenset({"float32", "float64", "float16", "bfloat16"})
_STREAM_CALLS = frozenset({"manual_seed", "fork_rng", "get_rng_state", "set_rng_state"})
_MADE = re.compile(rb"\b(?:" + "|".join(sorted(_FACTORIES | _METHODS)).encode() + rb")" + GAP + rb"[(#]")
_BRACKETS = re.compile(rb"[][(){}'\"#]")
_TAKEN = re.compile(
    rb"(?:[\s)\\]|#[^\r\n]*[\r\n])*(?:\[|\.[\s\\]*(?:#|(?:"
    + "|".join(sorted(_STEPS | _SHAPING | _FILLING | _RANDOM_FILLING)).encode()
    + rb")"
    + GAP
    + rb"[(#]))"
)


def _may_hold(data: bytes) -> bool:
    """Whether something is taken of what a call of a factory's name gives; yes where a string or comment hides its end."""
    return any(match[0].endswith(b"#") or _is_taken_on(data, match.end()) for match in _MADE.finditer(data))


def _is_taken_on(data: bytes, start: int) -> bool:
    depth = 1
    for bracket in _BRACKETS.finditer(data, start):
        if bracket.group() in b"'\"#" or depth > DEEPEST:
            return True
        depth += 1 if bracket.group() in b"([{" else -1
        if not depth:
            return _TAKEN.match(data, bracket.end()) is not None
    return False


@dataclass(frozen=True, slots=True)
class _Chain:
    """A factory's call, the moves and casts behind it, and what they ask for; ``calls`` are what is called in between."""

    factory: ast.Call
    name: str
    steps: tuple[ast.Call, ...]
    placement: Placement
    between: frozenset[str]


class CreateThenMove(AstRule):
    """
    ## What it does
    Finds tensors that a factory makes in one place or dtype and that are copied to another at once: `torch.zeros(n).cuda()`,
    `torch.randn(n).to(device)`, `torch.arange(n).float()`, `torch.ones(n).type_as(x)`.

    ## Why is this bad
    The tensor is made twice. One made on the CPU is filled by the CPU, waits in host memory, and goes over the bus; the
    factory can make it on the device, with the dtype that is wanted.

    A cast that changes nothing (`torch.zeros(n).float()`) makes no second tensor and is not reported, and neither is
    `torch.tensor(data).to(device)`: data comes from the host in any case. `torch.zeros_like(x).to(device)` is on the device of
    `x` to begin with.

    ## Example
    ```python
    hidden = torch.zeros(layers, batch, size).to(device)
    positions = torch.arange(length).float()
    ```

    ## Use instead
    ```python
    hidden = torch.zeros(layers, batch, size, device=device)
    positions = torch.arange(length, dtype=torch.float32)
    ```

    ## Fix safety
    Safe where the tensor's values are the same wherever they are made: zeros, ones, ranges of integers. Unsafe for random
    numbers, which the device's own generator draws, for values that are computed or rounded (`torch.linspace`,
    `torch.full(size, 0.1).double()`), for leaves that require grad, behind `expand`, whose copy can be written to, and where
    `.cuda(gpu)` may be given None. There is no fix where a comment stands inside the call that would go. Not reported are
    random numbers for which a generator is passed, or where the same function seeds the CPU's or saves its state, and moves to
    a device that is an expression over several lines.

    ## References
    - [Create tensors directly on the target device](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TPL401"
    name = "create-then-move"
    screen = Screen(any_of=(b"torch",), check=_may_hold)
    since = TorchVersion(0, 4)

    @cached_property
    def _placements(self) -> Placements:
        return Placements(self.semantics)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a factory's call with what moves its result."""
        name = self._factory(node)
        if name is None:
            return
        chain = self._chain(node, name)
        if chain is not None and self._copies(chain) and not self._is_meant(chain):
            self._report(chain)

    # --- what is made ------------------------------------------------------------------------------------------------

    def _factory(self, call: ast.Call) -> str | None:
        """The name of the factory that is called and whose result something is taken of."""
        if not isinstance(self.semantics.tree.parent(call), (ast.Attribute, ast.Subscript)):
            return None
        match call.func:
            case ast.Attribute(attr=name) if name in _METHODS:
                return name
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _FACTORIES:
                return name if self.semantics.qualified_name(call.func) == f"torch.{name}" else None
        return None

    def _chain(self, factory: ast.Call, name: str) -> _Chain | None:
        """The moves and casts behind a factory, as far as they are understood; one cast at most."""
        placement = Placement()
        steps: list[ast.Call] = []
        between: list[str] = []
        reach = 0
        link: ast.expr = factory
        while (behind := self._link_behind(link)) is not None:
            link, method, call = behind
            if call is not None and method in _STEPS:
                asked = self._placements.of(call)
                if asked is None or (asked.casts and (placement.casts or not _may_make(factory, name, asked.known_dtype))):
                    break
                if asked.casts and not _RANDOM_FILLING.isdisjoint(between):
                    break
                placement = _after(placement, asked)
                steps.append(call)
                reach = len(between)
            elif method not in _SHAPING and method not in _FILLING and method not in _RANDOM_FILLING and method:
                break
            else:
                between.append(method)
        return _Chain(factory, name, tuple(steps), placement, frozenset(between[:reach]) - {""}) if steps else None

    def _link_behind(self, value: ast.expr) -> tuple[ast.expr, str, ast.Call | None] | None:
        """What is taken of ``value``: the expression, the method's name, and its call (no name for a shaping index)."""
        parent = self.semantics.tree.parent(value)
        match parent:
            case ast.Attribute(value=owner, attr=method) if owner is value:
                call = self.semantics.tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return call, method, call
            case ast.Subscript(value=owner, slice=index) if owner is value and _only_shapes(index):
                return parent, "", None
        return None

    # --- whether that makes two tensors ------------------------------------------------------------------------------

    def _copies(self, chain: _Chain) -> bool:
        """Whether the tensor is made in another place or dtype than is wanted, as far as the factory's call tells."""
        factory, placement = chain.factory, chain.placement
        words = {word.arg for word in factory.keywords}
        if any(word.arg is None for word in factory.keywords) or words & {"out", "generator", "pin_memory", "names"}:
            return False
        if any(isinstance(argument, ast.GeneratorExp) for argument in factory.args):
            return False
        given = keyword_of(factory, "device")
        if given is not None and placement.device is not None:
            return (
                placement.casts and self.source.segment(given.value) == self._written(placement.device) and self._is_cast(chain)
            )
        moves = placement.device is not None and not _CPU.search(self._written(placement.device)) and chain.name not in _PLACED
        return moves or (placement.casts and self._is_cast(chain))

    def _is_cast(self, chain: _Chain) -> bool:
        """Whether a cast makes another tensor, of values that the factory could have made."""
        cast, name = chain.placement.known_dtype, chain.name
        arguments = chain.factory.args
        match name:
            case _ if keyword_of(chain.factory, "dtype") is not None or name in _LIKE:
                return True
            case "tensor" | "full" | "scalar_tensor":
                found = _dtypes(arguments[-1]) if arguments else frozenset()
                return cast not in (found or {"float32", "int64", "bool"}) and (name != "tensor" or bool(found and cast))
            case "arange" if any(_is_fractional(argument) for argument in arguments):
                return cast != "float32"
            case "arange":
                return cast != "int64"
        return cast != ("int64" if name in _RANDOM_INTEGERS | _INDICES else "float32")

    # --- what is meant as it is --------------------------------------------------------------------------------------

    def _is_meant(self, chain: _Chain) -> bool:
        """Whether random numbers are to be those of the CPU's generator."""
        return self._is_random(chain) and chain.placement.device is not None and self._keeps_stream(chain.factory)

    @staticmethod
    def _is_random(chain: _Chain) -> bool:
        return chain.name in _RANDOM_FLOATS | _RANDOM_INTEGERS or bool(chain.between & _RANDOM_FILLING)

    def _keeps_stream(self, node: ast.AST) -> bool:
        function = self.semantics.tree.function(node)
        return isinstance(function, FUNCTIONS) and function in self._functions_that_keep_a_stream

    @cached_property
    def _functions_that_keep_a_stream(self) -> set[ast.AST | None]:
        """The functions that seed torch's generator, or save and restore its state."""
        calls = (call for name in _STREAM_CALLS for call in self.semantics.facts.calls.get(name, ()))
        return {
            self.semantics.tree.function(call)
            for call in calls
            if (self.semantics.qualified_name(call.func) or "").startswith(
                ("torch.manual", "torch.random", "torch.get", "torch.set")
            )
        }

    # --- the report --------------------------------------------------------------------------------------------------

    def _report(self, chain: _Chain) -> None:
        torch, imports = self._rewriter.torch_name(chain.factory)
        words = self._words(chain, torch)
        if not any(f"{torch}." in value for value in words.values()):
            imports = []
        written = ", ".join(f"{name}={value}" for name, value in words.items())
        steps = "".join(f".{_method(step)}({_short(step, self.source)})" for step in chain.steps)
        made = ast.unparse(chain.factory.func)
        message = f"`{made}(…){steps}` makes the tensor twice: pass `{written}` to `{made}`"
        self.report(chain.steps[-1], message, self._fix(chain, words, imports))

    def _words(self, chain: _Chain, torch: str) -> dict[str, str]:
        """The keyword arguments that say what the moves and casts do."""
        words = {}
        placement = chain.placement
        if placement.casts:
            words["dtype"] = self._written(placement.dtype) if placement.dtype else f"{torch}.{placement.known_dtype}"
        if placement.device is not None:
            words["device"] = self._written(placement.device)
        return words

    def _written(self, part: ast.expr | str) -> str:
        """A device or dtype as source text on one line."""
        if isinstance(part, str):
            return part
        text = self.source.segment(part)
        return ast.unparse(part) if "\n" in text or "\r" in text else text

    def _fix(self, chain: _Chain, words: dict[str, str], imports: list[TextEdit]) -> Fix | None:
        edits = [*imports]
        for step in chain.steps:
            assert isinstance(step.func, ast.Attribute)
            start, end = self._rewriter.attribute_span(step.func)[0], self.source.end(step)
            if "#" in self.source.text[start:end]:
                return None
            edits.append((start, end, ""))
        new = [f"{name}={value}" for name, value in words.items() if keyword_of(chain.factory, name) is None]
        for name in words:
            if keyword_of(chain.factory, name) is not None:
                edits.append(set_keyword(self.source, chain.factory, name, words[name]))
        if new:
            edits.append(add_keywords(self.source, chain.factory, ", ".join(new)))
        return self.fix("Make it where and as it is wanted", edits, safe=self._is_same(chain))

    def _is_same(self, chain: _Chain) -> bool:
        """Whether the factory makes the very values that the moved or cast tensor has."""
        placement, name = chain.placement, chain.name
        if not placement.certain or self._is_random(chain) or name in _COMPUTED:
            return False
        if chain.between & _EXPANDING:
            return False  # the copy had memory of its own for each element
        wants_grad = keyword_of(chain.factory, "requires_grad")
        if wants_grad is not None and not (isinstance(wants_grad.value, ast.Constant) and wants_grad.value.value is False):
            return False
        if not placement.casts:
            return name != "arange" or not any(_is_fractional(argument) for argument in chain.factory.args)
        if chain.between & _FILLING:
            return False
        if name in _FILLED or name == "new_full":
            value = chain.factory.args[-1] if chain.factory.args else None
            return isinstance(value, ast.Constant) and isinstance(value.value, int)
        if name == "arange":
            return not any(_is_fractional(argument) for argument in chain.factory.args)
        return name != "tensor" or _dtypes(chain.factory.args[0]) <= {"int64", "bool"}


def _may_make(factory: ast.Call, name: str, dtype: str) -> bool:
    """Whether a factory can make the values with a dtype that a cast would have given them (none where it is not known)."""
    if name in _EXACT | _EXACT_METHODS:
        return True
    if keyword_of(factory, "dtype") is not None:
        return False
    if name in _RANDOM_FLOATS | _COMPUTED or (name == "arange" and any(_is_fractional(part) for part in factory.args)):
        return dtype in _FLOATS or not dtype
    if name in _INDICES:
        return dtype in ("int32", "int64")
    return dtype != "bool" or name in ("tensor", *_FILLED)


def _after(before: Placement, asked: Placement) -> Placement:
    """What two moves or casts, one behind the other, ask for together."""
    return Placement(
        asked.device or before.device,
        asked.dtype or before.dtype,
        asked.known_dtype or before.known_dtype,
        asked.certain and before.certain,
    )


def _only_shapes(index: ast.expr) -> bool:
    """Whether an index selects nothing: `[None]`, `[:, None]`, `[...]`."""
    match index:
        case ast.Constant(value=None) | ast.Slice(lower=None, upper=None, step=None):
            return True
        case ast.Tuple(elts=parts):
            return all(_only_shapes(part) for part in parts)
    return False


def _is_fractional(node: ast.expr) -> bool:
    """Whether an argument of a range is, or is computed with, a number that is no integer."""
    return any(
        (isinstance(part, ast.Constant) and isinstance(part.value, float))
        or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div))
        for part in ast.walk(node)
    )


def _dtypes(data: ast.expr) -> frozenset[str]:
    """The dtype that `torch.tensor` gives written-out data; nothing where it is not written out."""
    match data:
        case ast.Constant(value=bool()):
            return frozenset({"bool"})
        case ast.Constant(value=int()):
            return frozenset({"int64"})
        case ast.Constant(value=float()):
            return frozenset({"float32"})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _dtypes(operand)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if parts:
            found = [_dtypes(part) for part in parts]
            if not all(found):
                return frozenset()
            joined = frozenset[str]().union(*found)
            return frozenset({"float32"}) if "float32" in joined else frozenset({"int64"}) if "int64" in joined else joined
    return frozenset()


def _method(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr


def _short(call: ast.Call, source: Source) -> str:
    """The arguments of a move as they are written, or dots where they are long."""
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    text = ", ".join(source.segment(part) for part in parts)
    return text if len(text) <= 40 and "\n" not in text and "\r" not in text else "…"
