"""Tensors made by calling a class of tensors, or by ``x.new(…)``: what the class is, and what it is given."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics, Type, torch_api
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.asked import AskedTensors

Node = TypeVar("Node")

_DTYPES = {
    **{"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"},
    **{"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"},
}
_NAMES = frozenset({"Tensor", *(f"{name}Tensor" for name in _DTYPES)})
_FILLING = frozenset({"fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "copy_", "resize_", "exponential_"})
_STORAGES = frozenset({"storage", "untyped_storage", "typed_storage", "_typed_storage", "_new_shared", "_new_with_file"})
_STORAGE = re.compile(r"(?:.*_)?storage|.*Storage")
"""Methods that give storages, names that they have, and what makes them."""
_COUNT = re.compile(
    r"(?:n|num|nb|max|in|out)_(?:feat|feats|features|channels|dims?|units|nodes|classes|heads|planes|hidden|in|out|len|length)"
    r"|(?:n|num|nb)(?:_.*)?|size|shape|dim|bsz|channels|units|length|nhid|ninp|ntokens?|nclass"
    r"|.+_(?:size|shape|dim|len|length|channels|num|count|units|hidden|bsz|planes)",
    re.IGNORECASE,
)
_CAMEL_COUNT = re.compile(r".*[a-z](?:Size|Dim|Dims|Len|Length|Count|Channels)|[BCDKLMNdkmn]")
"""Names of numbers of things: what a tensor is made with so many of."""


class Content(Enum):
    """What a constructor is given."""

    SIZES = auto()
    SHAPE = auto()  # of what may be a tensor, and then it is sizes, or an array, and then it is data
    STORAGE = auto()
    LIST = auto()
    ARRAY = auto()
    TENSOR = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """What a constructor is given; where that is unknown, or a shape, it is a guess whether these are ``sizes`` or data."""

    content: Content
    sizes: bool


@dataclass(frozen=True, eq=False, slots=True)
class TensorClass(Generic[Node]):
    """A class of tensors: its dtype, none for the default one, and whether its tensors are on the GPU.

    One that a conditional expression chose has them on the GPU, or not, ``if_`` that is true, or false; it is nobody's guess
    where ``if_`` would have another outcome by now.
    """

    dtype: str | None
    on_gpu: bool = False
    chosen: bool = False
    if_: Node | None = None
    else_on_gpu: bool = False


_CLASSES: dict[str, TensorClass[ast.expr]] = {
    "torch.Tensor": TensorClass(None),
    **{f"torch.{name}Tensor": TensorClass(dtype) for name, dtype in _DTYPES.items()},
    **{f"torch.cuda.{name}Tensor": TensorClass(dtype, on_gpu=True) for name, dtype in _DTYPES.items()},
}


class Constructors:
    """Finds the calls of legacy constructors, and tells what they are given."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def made(self) -> dict[ast.Call, TensorClass[ast.expr]]:
        """The calls of classes of tensors, under whatever name, each with the class."""
        calls = self._semantics.of(Spellings).calls(_NAMES)
        found = ((call, self._class(call.func)) for call in calls)
        return {call: made for call, made in found if made is not None}

    @cached_property
    def renewed(self) -> frozenset[ast.Call]:
        """The calls of ``new`` of tensors, and of what is likely to be one."""
        calls = [call for call in self._semantics.facts.calls.get("new", ()) if isinstance(call.func, ast.Attribute)]
        return frozenset(call for call in calls if not call.keywords and self._is_of_tensor(call))

    @cached_property
    def tests(self) -> dict[ast.Call, ast.expr]:
        """The calls of `isinstance` with a class of tensors on the GPU, each with the class."""
        calls = self._semantics.facts.calls.get("isinstance", ())
        plain = [call for call in calls if isinstance(call.func, ast.Name) and len(call.args) == 2 and not call.keywords]
        return {call: call.args[1] for call in plain if self._is_of_gpu(call.args[1])}

    # --- classes -----------------------------------------------------------------------------------------------------

    def _class(self, function: ast.expr) -> TensorClass[ast.expr] | None:
        name = self._semantics.qualified_name(function)
        if name is not None:
            return _CLASSES.get(name)
        if isinstance(function, ast.Name):
            bindings = self._semantics.bindings.reaching(function)
            if len(bindings) == 1 and isinstance(bindings[0].value, ast.IfExp):
                return self._chosen_class(function, bindings[0], bindings[0].value)
        return None

    def _chosen_class(self, use: ast.Name, binding: Binding, choice: ast.IfExp) -> TensorClass[ast.expr] | None:
        """What ``torch.cuda.FloatTensor if cuda else torch.FloatTensor`` stands for, where one dtype is all it can be."""
        if binding.form is not Form.ASSIGNMENT or binding.path:
            return None
        one, other = (_CLASSES.get(self._semantics.qualified_name(part) or "") for part in (choice.body, choice.orelse))
        if one is None or other is None or (one.dtype or "float32") != (other.dtype or "float32"):
            return None
        test = choice.test if self._tells_the_same(choice.test, use) else None
        return TensorClass(one.dtype or other.dtype, one.on_gpu, chosen=True, if_=test, else_on_gpu=other.on_gpu)

    def _tells_the_same(self, test: ast.expr, use: ast.Name) -> bool:
        """Whether a test has the same outcome where the class is used as where it was chosen."""
        if isinstance(test, ast.Call):
            return self._semantics.qualified_name(test.func) == "torch.cuda.is_available" and not test.args
        first: ast.expr = test
        while isinstance(first, ast.Attribute):
            first = first.value
        if not isinstance(first, ast.Name):
            return False
        there = self._semantics.bindings.lookup(first.id, self._semantics.bindings.scope_of(use))
        return len(there) == 1 and there == self._semantics.bindings.reaching(first)

    def _is_of_gpu(self, tested: ast.expr) -> bool:
        name = self._semantics.qualified_name(tested)
        return name in _CLASSES and _CLASSES[name].on_gpu

    def _is_of_tensor(self, new: ast.Call) -> bool:
        assert isinstance(new.func, ast.Attribute)
        kind = self._semantics.kind(new.func.value)
        if kind.is_tensor or kind.known:
            return kind.is_tensor
        return self._filling(new) in _FILLING & torch_api.INPLACE_METHODS or self._is_of_function(new.func.value)

    def _is_of_function(self, node: ast.expr) -> bool:
        """Whether something is what the ``forward`` or ``backward`` of a function for autograd is given."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        method = self._semantics.tree.function(node)
        owner = self._semantics.tree.parent(method) if method is not None else None
        if not bindings or not isinstance(owner, ast.ClassDef) or not isinstance(method, FUNCTIONS):
            return False
        is_function = self._semantics.facts.derives_from(owner, "torch.autograd.")
        return is_function and method.name in ("forward", "backward") and all(each.form is Form.PARAMETER for each in bindings)

    # --- what is given -----------------------------------------------------------------------------------------------

    def given(self, call: ast.Call) -> Given:
        """What the call of a constructor is given; a single argument of unknown kind may be either."""
        content = self._content(call)
        if content is Content.UNKNOWN:
            is_number = not self._semantics.kind(call.args[0]).is_tensor and is_called_a_count(call.args[0])
            return Given(content, self._is_filled(call) or is_number)
        if content is Content.SHAPE:
            return Given(content, self._is_filled(call))
        return Given(content, content is Content.SIZES)

    def _content(self, call: ast.Call) -> Content:
        if call.args and self._is_storage(call.args[0]):
            return Content.STORAGE
        if len(call.args) != 1 or isinstance(call.args[0], ast.Starred) or any(word.arg == "size" for word in call.keywords):
            return Content.SIZES
        argument = call.args[0]
        if (shape := self._shape(argument)) is not None:
            return shape
        if isinstance(argument, (ast.List, ast.Tuple, ast.ListComp, ast.Set)):
            return Content.LIST
        if self._becomes_tensor(argument):
            return Content.ARRAY
        kind = self._semantics.kind(argument)
        if kind.loose and kind.grad is Grad.UNKNOWN:
            return Content.UNKNOWN  # an argument of a `forward`: a list, for all that is known
        match kind.type:
            case Type.NUMBER:
                return Content.SIZES
            case Type.SEQUENCE:
                return Content.LIST
            case Type.ARRAY:
                return Content.ARRAY
            case Type.TENSOR:
                return Content.UNKNOWN if self._is_beside_array(call, argument) else Content.TENSOR
        return Content.UNKNOWN

    def _is_beside_array(self, call: ast.Call, data: ast.expr) -> bool:
        """Whether a tensor is made right beside that of another variable, which is none there, as a test around has found
        (``if not isinstance(x, torch.Tensor):``), and both of them come from the same place: ``y`` is no tensor either then.
        """
        if not isinstance(data, ast.Name) or not self._untensored:
            return False
        beside = self._untensored.get(self._semantics.tree.block(self._semantics.tree.statement(call))[0], ())
        return any(other.id != data.id and self._come_together(other, data) for other in beside)

    @cached_property
    def _untensored(self) -> dict[ast.stmt, list[ast.Name]]:
        """The variables that constructors are given where a test has found them to be no tensors, by the block."""
        asked, found = self._semantics.of(AskedTensors), dict[ast.stmt, list[ast.Name]]()
        for call in self.made:
            if len(call.args) == 1 and isinstance(data := call.args[0], ast.Name) and asked.are_none(data):
                found.setdefault(self._semantics.tree.block(self._semantics.tree.statement(call))[0], []).append(data)
        return found

    def _come_together(self, one: ast.Name, other: ast.Name) -> bool:
        """Whether two variables are parameters of the same function, parts of the same value, or results of the same one."""
        first, second = self._semantics.bindings.reaching(one), self._semantics.bindings.reaching(other)
        if len(first) != 1 or len(second) != 1 or first[0].form is not second[0].form:
            return False
        if first[0].form is Form.PARAMETER:
            return first[0].scope is second[0].scope
        match first[0].value, second[0].value:
            case ast.expr() as value, ast.expr() as its if value is its:
                return True
            case ast.Call(func=maker), ast.Call(func=its_maker):
                return first[0].path == second[0].path and ast.dump(maker) == ast.dump(its_maker)
        return False

    def _becomes_tensor(self, data: ast.expr) -> bool:
        """Whether an attribute becomes a tensor of what was read into it before: `self.x = torch.FloatTensor(self.x)`."""
        owner = self._semantics.facts.self_class(data.value) if isinstance(data, ast.Attribute) else None
        match self._semantics.tree.statement(data):
            case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=ast.Call()) as statement if owner is not None:
                if not isinstance(data, ast.Attribute) or attribute != data.attr:
                    return False
                stores = [store for slot in self._semantics.facts.slots(owner, attribute) for store in slot.stores]
                function = self._semantics.tree.function(statement)
                return any(
                    self._semantics.tree.function(store) is function and self._is_of_array(store)
                    for store in stores
                    if store.lineno < statement.lineno
                )
        return False

    def _is_of_array(self, store: ast.expr) -> bool:
        """Whether an attribute is given an array, or one of several values that are not known to be tensors."""
        match self._semantics.tree.parent(store):
            case ast.Tuple():
                return True
            case ast.Assign(value=value) if all(ast.dump(part) != _loaded(store) for part in ast.walk(value)):
                return self._semantics.kind(value).type is Type.ARRAY or self._is_computed_of_array(value)
        return False

    def _is_computed_of_array(self, value: ast.expr) -> bool:
        """Whether numbers are computed of what numpy gives: `np.empty(3) * np.nan`."""
        while isinstance(value, ast.BinOp):
            value = value.left
        name = self._semantics.qualified_name(value.func) if isinstance(value, ast.Call) else None
        return name is not None and name.startswith("numpy.")

    def _shape(self, node: ast.expr, depth: int = 3) -> Content | None:
        """What an expression is that may be a `torch.Size`, which counts as sizes where a tuple would be data."""
        match node:
            case ast.Call(func=ast.Attribute(attr="size"), args=[], keywords=[]):
                return Content.SIZES
            case ast.Attribute(attr="shape", value=owner):
                return {Type.TENSOR: Content.SIZES, Type.ARRAY: Content.LIST}.get(
                    self._semantics.kind(owner).type, Content.SHAPE
                )
            case ast.Call(func=function) if self._semantics.qualified_name(function) == "torch.Size":
                return Content.SIZES
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._shape(value, depth)
            case ast.BinOp(left=left, op=ast.Add()):
                return self._shape(left, depth)
            case ast.Name() if depth:
                shapes = {self._shape(value, depth - 1) if value is not None else None for value in self._values(node)}
                return None if not shapes or None in shapes else shapes.pop() if len(shapes) == 1 else Content.SHAPE
        return None

    def _is_storage(self, node: ast.expr, depth: int = 3) -> bool:
        """Whether an expression is a storage, of which a tensor is made that shares its memory."""
        match node:
            case ast.Call(func=ast.Attribute(attr=method)) if method in _STORAGES:
                return True
            case ast.Call(func=function) if _names_storage(self._semantics.qualified_name(function) or ""):
                return True
            case ast.Name() if depth and any(values := self._values(node)):
                return all(value is not None and self._is_storage(value, depth - 1) for value in values)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return _STORAGE.fullmatch(name) is not None
        return False

    def _values(self, name: ast.Name) -> list[ast.expr | None]:
        """What a name is assigned where it is read, none for what it gets in another way."""
        bindings = self._semantics.bindings.reaching(name)
        return [found.value if found.form is Form.ASSIGNMENT and not found.path else None for found in bindings]

    def _is_filled(self, call: ast.Call) -> bool:
        return self._filling(call) in _FILLING

    def _filling(self, call: ast.Call) -> str:
        """The method that is called on what a constructor makes: if it fills the tensor, it is made of sizes."""
        parent = self._semantics.tree.parent(call)
        return parent.attr if isinstance(parent, ast.Attribute) else ""

    # --- what it is for ----------------------------------------------------------------------------------------------

    def selects(self, call: ast.Call) -> bool:
        """Whether the file uses the tensor to select by, which since torch 1.2 is done with booleans."""
        statement = self._semantics.tree.parent(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        binding = self._semantics.bindings.of(statement.targets[0])
        return binding is not None and any(self._is_selector(use) for use in binding.uses)

    def _is_selector(self, use: ast.Name) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Subscript(slice=index):
                return index is use
            case ast.Call(func=ast.Attribute(attr=method), args=[*arguments]) if method.startswith("masked_"):
                return use in arguments
        return False

    @cached_property
    def changes_default_dtype(self) -> bool:
        """Whether the file sets the dtype that `torch.Tensor` has."""
        return not self._semantics.words.all.isdisjoint({"set_default_dtype", "set_default_tensor_type"})


def _names_storage(name: str) -> bool:
    """Whether an API of torch is a class of storages, or a method of one."""
    return name.startswith("torch.") and any(part.endswith("Storage") for part in name.split("."))


def is_called_a_count(node: ast.expr) -> bool:
    """Whether an expression has the name of a number of things, or is computed from one that has."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return _COUNT.fullmatch(name) is not None or _CAMEL_COUNT.fullmatch(name) is not None
        case ast.Call(args=[ast.Constant(value=str(name)), *_]):
            return _COUNT.fullmatch(name) is not None
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith("num_")
        case ast.BinOp(left=left, op=ast.Mult() | ast.FloorDiv() | ast.Add() | ast.Sub(), right=right):
            return is_called_a_count(left) or is_called_a_count(right)
    return False


def _loaded(target: ast.expr) -> str:
    """How an attribute that is assigned to looks where it is read."""
    return ast.dump(target).replace("Store()", "Load()")
