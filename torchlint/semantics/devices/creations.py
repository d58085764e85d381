"""Tensors that a factory makes in one place or dtype, and that are copied to another at once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Fact, all_of, known
from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, is_false, keyword, last_name
from torchlint.semantics.conditions.cpu_projects import CpuProjects
from torchlint.semantics.devices import factories
from torchlint.semantics.devices.certain_devices import CertainDevices
from torchlint.semantics.devices.example_inputs import ExampleInputs
from torchlint.semantics.devices.moves.later_moves import LaterMoves
from torchlint.semantics.devices.moves.unseen_moves import UnseenMoves
from torchlint.semantics.devices.placement import CASTING_METHODS, Placement, Placements
from torchlint.semantics.devices.same_values import SameValues

Node = TypeVar("Node")
Made = TypeVar("Made")

_PLACED = factories.LIKE | {"tensor"}
"""Factories whose result a move need not copy, or whose data has to be copied anyway."""
_STEPS = frozenset({*CASTING_METHODS, "cuda", "to", "type", "type_as"})
_SHAPING = frozenset(
    {
        *("view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "repeat", "tile", "flatten", "contiguous"),
        *("t", "transpose", "permute", "view_as", "reshape_as", "unflatten"),
    }
)
_EXPANDING = frozenset({"expand", "expand_as"})
_COPYING = frozenset({"repeat", "tile"})
_FILLING = frozenset({"fill_", "zero_"})
_RANDOM_FILLING = frozenset({"normal_", "uniform_", "random_", "bernoulli_", "exponential_"})
_AROUND = (ast.Attribute, ast.Subscript, ast.Assign)
"""What may move or cast a tensor that stands in it."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OF_SIZES = frozenset({"zeros", "ones", "empty", "rand", "randn"})
"""Factories that are given nothing but sizes."""
_STREAM_CALLS = frozenset({"manual_seed", "fork_rng", "get_rng_state", "set_rng_state"})
_OF_STREAMS = ("torch.manual", "torch.random", "torch.get", "torch.set")
_OTHER_DEVICES = re.compile(r"cuda|gpu|device|accelerat|lightning|deepspeed|^(mps|xpu|npu|hpu|tpu|xla)$", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class Creation(Generic[Made, Node]):
    """The call of a ``factory``, and the ``steps`` behind it that move or cast what it makes.

    The factory could make it on ``device`` and with ``dtype`` itself. Both are expressions of the file, or code where the file
    has none that says so; ``known_dtype`` is torch's name of the dtype where only a method's name says it (``.float()``).
    ``same`` is whether the factory would make the very values that the copy has; ``tried`` is one made to try out what the file
    defines, one number of a constructor, or one that is written as a number; one that ``stays`` goes where another tensor is,
    in a program that knows the CPU alone. One is moved ``apart`` that gets a name first: ``x = torch.zeros(n)``, and ``x =
    x.cuda()`` behind it.
    """

    factory: Made
    steps: tuple[Made, ...]
    device: Node | str | None
    dtype: Node | str | None
    known_dtype: str
    same: Fact
    tried: bool
    stays: bool
    apart: bool


@dataclass(frozen=True, slots=True)
class _Chain:
    """A factory's call, the moves and casts behind it, and what they ask for; ``between`` is what is called in between."""

    factory: ast.Call
    name: str
    steps: tuple[ast.Call, ...]
    placement: Placement
    between: frozenset[str]
    is_apart: bool
    is_view: bool
    """Whether the factory's tensor is seen in another shape when the last step copies it."""

    @property
    def is_random(self) -> bool:
        """Whether it makes random numbers."""
        drawn = self.name in factories.RANDOM_FLOATS | factories.RANDOM_INTEGERS
        return drawn or not self.between.isdisjoint(_RANDOM_FILLING)


class Creations:
    """Finds the tensors of a file that are made twice."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._placements = semantics.of(Placements)
        self._data_sets: dict[ast.ClassDef, bool] = {}
        self._speaking: dict[ast.ClassDef, bool] = {}

    @cached_property
    def copied(self) -> dict[ast.Call, Creation[ast.Call, ast.expr]]:
        """The last steps of the chains that make a tensor twice, each with the whole; the factory where these are apart."""
        chains = (self._chain(call, name) for call, name in self._factories())
        return {
            chain.factory if chain.is_apart else chain.steps[-1]: Creation(
                chain.factory,
                chain.steps,
                chain.placement.device,
                chain.placement.dtype,
                chain.placement.known_dtype,
                self._is_same(chain),
                self._semantics.of(ExampleInputs).is_example(chain.factory, chain.name, chain.steps[-1])
                or self._is_one_number(chain.factory)
                or self._is_empty(chain.factory)
                or self._is_told_number(chain),
                _follows(chain.placement.device) and (self._is_cpu(chain.placement.device) or self._stays(chain.factory)),
                chain.is_apart,
            )
            for chain in chains
            if chain is not None and self._copies(chain) and not self._is_meant(chain)
        }

    # --- what is made ------------------------------------------------------------------------------------------------

    def _factories(self) -> Iterable[tuple[ast.Call, str]]:
        """The calls of factories whose result something is taken of, with the factories' names."""
        calls = self._semantics.facts.calls
        methods = factories.METHODS if self._semantics.words.speak_of("torch") else ()
        for name in (*factories.FUNCTIONS, *methods):
            for call in calls.get(name, ()):
                if isinstance(self._semantics.tree.parent(call), _AROUND) or self._is_wrapped(call):
                    if self._is_factory(call, name):
                        yield call, name

    def _is_wrapped(self, tensor: ast.expr) -> bool:
        """Whether a tensor is given to ``Variable``, which gives it back: ``Variable(torch.zeros(3)).cuda()``."""
        match self._semantics.tree.parent(tensor):
            case ast.Call(func=function, args=[given], keywords=[]) if given is tensor:
                return self._semantics.qualified_name(function) == "torch.autograd.Variable"
        return False

    def _is_factory(self, call: ast.Call, name: str) -> bool:
        if name in factories.METHODS:
            return isinstance(call.func, ast.Attribute)
        if name == "normal" and len(call.args) < 3 and keyword(call, "size") is None:
            return False  # of tensors, where they are
        return self._semantics.qualified_name(call.func) == f"torch.{name}"

    def _chain(self, factory: ast.Call, name: str) -> _Chain | None:
        """The moves and casts behind a factory, as far as they are understood; one cast at most."""
        placement = Placement()
        steps: list[ast.Call] = []
        between: list[str] = []
        reach = 0
        views: list[bool] = []
        link: ast.expr = factory
        while (behind := self._link_behind(link) or (None if steps else self._link_later(link))) is not None:
            link, method, call = behind
            if call is not None and method in _STEPS:
                asked = self._placements.of(call)
                if asked is None or (asked.casts and not self._may_cast(factory, name, placement, asked, between)):
                    break
                placement = _after(placement, asked)
                steps.append(call)
                reach = len(between)
            elif method and method not in _SHAPING | _FILLING | _RANDOM_FILLING:
                break
            else:
                between.append(method)
                views.append(isinstance(link, ast.Subscript) or method in _SHAPING - _COPYING)
        if not steps:
            return None
        is_apart = self._semantics.tree.statement(steps[-1]) is not self._semantics.tree.statement(factory)
        if is_apart and (placement.device is None or not self._is_told_before(placement.device, factory, steps[-1])):
            return None
        return _Chain(factory, name, tuple(steps), placement, frozenset(between[:reach]) - {""}, is_apart, any(views[:reach]))

    def _is_told_before(self, device: ast.expr | str, factory: ast.Call, move: ast.Call) -> bool:
        return isinstance(device, str) or self._semantics.of(LaterMoves).is_known_before(device, factory, move)

    @staticmethod
    def _may_cast(factory: ast.Call, name: str, before: Placement, asked: Placement, between: list[str]) -> bool:
        """Whether the factory could do what a cast does, which no other was done before, and no drawing of numbers."""
        if before.casts or not _RANDOM_FILLING.isdisjoint(between):
            return False
        return factories.may_make(factory, name, asked.known_dtype)

    def _link_behind(self, value: ast.expr) -> tuple[ast.expr, str, ast.Call | None] | None:
        """What is taken of ``value``: the expression, the method's name, and its call (no name for a shaping index,
        and for a wrapper).
        """
        parent = self._semantics.tree.parent(value)
        match parent:
            case ast.Attribute(value=owner, attr=method) if owner is value:
                call = self._semantics.tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return call, method, call
            case ast.Subscript(value=owner, slice=index) if owner is value and _only_shapes(index):
                return parent, "", None
            case ast.Call() if self._is_wrapped(value):
                return parent, "", None
        return None

    def _link_later(self, value: ast.expr) -> tuple[ast.expr, str, ast.Call | None] | None:
        """What is taken of a variable that gets ``value`` where it is read, which gives it its next value."""
        read = self._semantics.of(LaterMoves).read(value)
        return self._link_behind(read) if read is not None else None

    # --- whether that makes two tensors ------------------------------------------------------------------------------

    def _copies(self, chain: _Chain) -> bool:
        """Whether the tensor is made in another place or dtype than is wanted, as far as the factory's call tells."""
        factory, placement = chain.factory, chain.placement
        words = {word.arg for word in factory.keywords}
        if not words.isdisjoint({None, "out", "generator", "pin_memory", "names"}):
            return False
        if any(isinstance(argument, ast.GeneratorExp) for argument in factory.args):
            return False
        casts = placement.casts and factories.is_changed_by(factory, chain.name, placement.known_dtype)
        if chain.name.endswith("_like") and factory.args and placement.dtype is not None:
            casts &= _said(placement.dtype) != f"{ast.unparse(factory.args[0])}.dtype"
        given = keyword(factory, "device")
        if given is not None and placement.device is not None:
            return casts and ast.unparse(given) == _said(placement.device)
        moves = placement.device is not None and chain.name not in _PLACED and not self._is_cpu(placement.device)
        return moves or casts

    def _is_cpu(self, device: ast.expr | str | None) -> bool:
        """Whether a device is where the factory makes its tensor in any case."""
        devices = self._semantics.of(CertainDevices)
        return isinstance(device, ast.expr) and (devices.is_cpu(device) or devices.is_of_cpu_tensor(device))

    def _stays(self, factory: ast.Call) -> bool:
        """Whether the tensors that one follows are on the CPU: the program knows no other device, or its data set does not."""
        return (
            self._is_of_cpu_program
            or self._semantics.of(CpuProjects).is_of_one
            or any(
                isinstance(each, ast.ClassDef) and self._gives_data(each) for each in self._semantics.tree.ancestors(factory)
            )
        )

    def _is_one_number(self, factory: ast.Call) -> bool:
        """Whether a constructor makes a single number, once: ``torch.zeros(1)``."""
        tree = self._semantics.tree
        function = tree.function(factory)
        if not isinstance(function, FUNCTIONS) or function.name != "__init__":
            return False
        if any(isinstance(each, (*LOOPS, *_COMPREHENSIONS)) for each in tree.ancestors(factory)):
            return False
        sizes = self._sizes(factory)
        return bool(sizes) and all(isinstance(each, ast.Constant) and each.value == 1 for each in sizes)

    def _is_empty(self, factory: ast.Call) -> bool:
        """Whether a tensor has no numbers, so that there is nothing to fill or to move: ``torch.zeros(b, 0, d)``."""
        return any(isinstance(each, ast.Constant) and each.value == 0 for each in self._sizes(factory))

    def _sizes(self, factory: ast.Call) -> list[ast.expr]:
        """The sizes that a factory is given; none for one that is given others things than sizes."""
        name = (self._semantics.qualified_name(factory.func) or "").removeprefix("torch.")
        sizes = factory.args if name in _OF_SIZES else []
        return sizes[0].elts if sizes and isinstance(sizes[0], (ast.Tuple, ast.List)) else sizes

    def _is_told_number(self, chain: _Chain) -> bool:
        """Whether one number is made a tensor, which comes from the host in any case: ``torch.tensor(0).float().cuda()``."""
        match chain.factory.args:
            case [ast.expr() as value] if chain.name == "tensor" and not chain.is_apart:
                return self._semantics.kind(value).type is Type.NUMBER
        return False

    def _gives_data(self, definition: ast.ClassDef) -> bool:
        """Whether a class is a data set, which workers run without a GPU, and speaks of no device but those of tensors."""
        if definition not in self._data_sets:
            facts = self._semantics.facts
            self._data_sets[definition] = (
                facts.derives_from(definition, "torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset")
                and facts.method(definition, "__getitem__") is not None
                and not any(map(self._speaks_of_device, facts.bases(definition)))
            )
        return self._data_sets[definition]

    def _speaks_of_device(self, definition: ast.ClassDef) -> bool:
        if definition not in self._speaking:
            self._speaking[definition] = any(map(_names_device, ast.walk(definition)))
        return self._speaking[definition]

    # --- whether the values are the same -----------------------------------------------------------------------------

    def _is_same(self, chain: _Chain) -> Fact:
        """Whether the factory makes the very values that the moved or cast tensor has."""
        placement = chain.placement
        dtype = placement.known_dtype if placement.casts else None
        unseen = self._semantics.of(UnseenMoves)
        refused = placement.device is not None and unseen.may_be_refused(chain.factory, beside=_follows(placement.device))
        return all_of(
            known(not chain.is_random, "another device draws other random numbers"),
            known(chain.between.isdisjoint(_EXPANDING), "the copy has memory of its own for each element"),
            known(not _wants_grad(chain.factory), "the copy is no leaf, and what the factory makes is one"),
            known(dtype is None or chain.between.isdisjoint(_FILLING), "what is filled in may be rounded otherwise"),
            known(not chain.is_view or unseen.is_only_read(chain.steps[-1]), "a view cannot be changed everywhere"),
            known(not refused, "what a move would raise is awaited"),
            placement.fact,
            self._semantics.of(SameValues).fact(chain.factory, chain.name, dtype),
        )

    @cached_property
    def _is_of_cpu_program(self) -> bool:
        """Whether the file trains a model itself, is imported by no other, and speaks of no device but those of tensors."""
        callers, tree = self._semantics.elsewhere.callers, self._semantics.tree
        if not self._semantics.facts.calls.get("backward") or (callers is not None and callers.are_possible()):
            return False
        if any(_OTHER_DEVICES.search(word) for word in self._semantics.words.all if word != "device"):
            return False
        places = [node for node in tree.of_type(ast.Attribute) if node.attr == "device"]
        if any(isinstance(node.ctx, ast.Store) or last_name(node.value) in ("torch", "self") for node in places):
            return False
        names = [node.id for node in tree.of_type(ast.Name)] + [node.arg for node in tree.of_type(ast.arg)]
        texts = [node.value for node in tree.of_type(ast.Constant) if isinstance(node.value, str)]
        words = [node.arg for node in tree.of_type(ast.keyword)]
        return "device" not in (*names, *words) and not any("device" in text for text in texts)

    # --- what is meant as it is --------------------------------------------------------------------------------------

    def _is_meant(self, chain: _Chain) -> bool:
        """Whether random numbers are to be those of the CPU's generator, or the move is what a trace is made of; or the factory
        would make a leaf that requires grad, which the code then changes in place.
        """
        if self._is_traced(chain.factory) or (_wants_grad(chain.factory) and self._is_changed(chain.steps[-1])):
            return True
        if not chain.is_random or chain.placement.device is None:
            return False
        function = self._semantics.tree.function(chain.factory)
        return function is not None and function in self._functions_that_keep_a_stream

    def _is_traced(self, factory: ast.Call) -> bool:
        """Whether a tensor is made in a function that is written out where it is traced: ``torch.jit.trace(lambda: …)``."""
        if "trace" not in self._semantics.words.all:
            return False
        around = [each for each in self._semantics.tree.ancestors(factory) if isinstance(each, ast.Call)]
        return any(self._semantics.qualified_name(call.func) == "torch.jit.trace" for call in around)

    def _is_changed(self, copy: ast.Call) -> bool:
        """Whether the variable or attribute that a copy is assigned to is changed in place: ``total += loss``."""
        match self._semantics.tree.parent(copy):
            case ast.Assign(targets=[target]) if (target.__class__, ast.unparse(target)) in self._changed:
                return True
        return False

    @cached_property
    def _changed(self) -> set[tuple[type[ast.expr], str]]:
        """What augmented assignments change, as it is spelled."""
        targets = [statement.target for statement in self._semantics.tree.of_type(ast.AugAssign)]
        return {(target.__class__, ast.unparse(target)) for target in targets}

    @cached_property
    def _functions_that_keep_a_stream(self) -> set[ast.AST | None]:
        """The functions that seed torch's generator, or save and restore its state."""
        calls = (call for name in _STREAM_CALLS for call in self._semantics.facts.calls.get(name, ()))
        return {
            self._semantics.tree.function(call)
            for call in calls
            if (self._semantics.qualified_name(call.func) or "").startswith(_OF_STREAMS)
        }


def _names_device(node: ast.AST) -> bool:
    """Whether a device is named, or something is moved to one: all but the ``device`` of a tensor."""
    match node:
        case ast.Attribute(attr="device", value=owner):
            return last_name(owner) in ("self", "cls", "torch")
        case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)) | ast.Attribute(attr=name):
            return _OTHER_DEVICES.search(name) is not None
        case ast.Constant(value=str(text)):
            return text.startswith("cuda")
    return False


def _wants_grad(factory: ast.Call) -> bool:
    """Whether what a factory makes requires grad, or may."""
    given = keyword(factory, "requires_grad")
    return given is not None and not is_false(given)


def _after(before: Placement, asked: Placement) -> Placement:
    """What two moves or casts, one behind the other, ask for together."""
    return Placement(
        asked.device or before.device,
        asked.dtype or before.dtype,
        asked.known_dtype or before.known_dtype,
        asked.fact & before.fact,
    )


def _only_shapes(index: ast.expr) -> bool:
    """Whether an index selects nothing: ``[None]``, ``[:, None]``, ``[...]``."""
    match index:
        case ast.Constant(value=value):
            return value is None or value is Ellipsis
        case ast.Slice(lower=None, upper=None, step=None):
            return True
        case ast.Tuple(elts=parts):
            return all(_only_shapes(part) for part in parts)
    return False


def _follows(device: ast.expr | str | None) -> bool:
    """Whether a device is that of another tensor: ``x.device``."""
    return device is not None and _said(device).endswith(".device")


def _said(part: ast.expr | str) -> str:
    """A device or dtype as code."""
    return part if isinstance(part, str) else ast.unparse(part)
