"""Legacy constructors of tensors at places where the one line may mean two things, or another thing than it says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from enum import Enum, auto
from functools import cached_property

from torchlint.semantics import Basis, Binding, Form, Semantics, Type
from torchlint.semantics.apis.constructors import Constructors, Content, TensorClass, is_called_a_count
from torchlint.semantics.code.tree import FUNCTIONS, last_name, own_returns
from torchlint.semantics.shapes.known_dtypes import KnownDtypes

_INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64", "bool"})
_TO_INTEGERS = frozenset({"long", "int", "short", "char", "byte"})
_CASTS = {
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "byte": "uint8",
    "float": "float32",
    "double": "float64",
    "half": "float16",
}
_GIVING_DATA = frozenset(
    {
        *("astype", "tolist", "reshape", "transpose", "flatten", "ravel", "values", "items", "keys", "toarray", "todense"),
        *("tocoo", "numpy", "squeeze", "nonzero", "split", "swapaxes", "repeat", "clip", "argsort"),
    }
)
"""Methods that give an array or a list."""
_OF_DATA = _GIVING_DATA | {
    *("append", "extend", "insert", "sort", "index", "count", "shape", "dtype", "ndim", "size", "T", "copy", "nnz"),
    *("min", "max", "sum", "mean", "fill", "argmax", "row", "col"),
}
"""What lists and arrays have, and ints have not."""
_READERS = frozenset({"len", "enumerate", "zip", "sorted", "reversed", "list", "tuple", "set", "iter", "map", "filter"})
_MAKERS = frozenset({"sorted", "list", "tuple", "set", "zip", "map", "filter", "range", "reversed", "bytes", "bytearray"})
_NUMPYS_NUMBERS = frozenset(
    {"sum", "mean", "prod", "max", "min", "random", "randint", "argmax", "argmin", "median", "sqrt", "floor"}
)
_OF_MANY = re.compile(
    r"(?!.*(?:ss|us|is|bias|alias|pos|obs)$)\w+[a-z]s|data|indptr"
    r"|(?:.*_)?(?:nd)?(?:array|arr|np|list|seq|vec|vector|mat|matrix|mask|image|img|bbox|box|anno|coord|embedding|tuple)",
    re.IGNORECASE,
)
"""Names of what holds several numbers. An int may be called otherwise."""
_PICTURES = frozenset({"cv2", "numpy", "skimage", "imageio"})
"""Libraries whose functions give arrays, no tensors."""
_DEPTH = 4


class TwoMeanings(Enum):
    """In which way one line may mean two things."""

    SIZE_OR_DATA = auto()
    COUNT_OR_VALUE = auto()  # a number that counts nothing, as far as its name tells: it is taken for a size
    SIZE_OR_SHAPE = auto()  # the shape of an array is data, that of a tensor is not
    ANY_DTYPE = auto()  # a tensor that is handed through or refused
    CUT_OFF = auto()  # numbers with a point that are made integers
    ROUNDED = auto()  # integers that are made floats on their way


class Ambiguities:
    """Tells of the calls of legacy constructors whether their one argument may be read in another way."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._constructors = semantics.of(Constructors)

    @cached_property
    def found(self) -> dict[ast.Call, TwoMeanings]:
        """The calls that may mean two things, each with the way in which."""
        made: list[tuple[ast.Call, TensorClass[ast.expr] | None]] = [*self._constructors.made.items()]
        made += [(call, None) for call in self._constructors.renewed]
        found = ((call, self._meanings(call, its)) for call, its in made)
        return {call: meanings for call, meanings in found if meanings is not None}

    def _meanings(self, call: ast.Call, made: TensorClass[ast.expr] | None) -> TwoMeanings | None:
        given = self._constructors.given(call)
        if len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
            return None
        argument = call.args[0]
        match given.content:
            case Content.SHAPE:
                is_plain = given.sizes or _is_of_space(argument) or self._is_of_picture(argument)
                return None if is_plain else TwoMeanings.SIZE_OR_SHAPE
            case Content.SIZES:
                return TwoMeanings.COUNT_OR_VALUE if self._is_value(call, argument) else None
            case Content.TENSOR:
                if made is None or self._is_of_dtype(argument, made) or self._may_be_array(argument):
                    return None
                return TwoMeanings.ANY_DTYPE
            case Content.STORAGE:
                return None
        if made is not None and made.dtype in _INTEGERS and _has_floats(argument):
            return TwoMeanings.CUT_OFF
        if made is not None and self._is_made_integer(call, made) and not _is_written_out(argument):
            dtype = self._semantics.of(KnownDtypes).of(argument)
            return None if dtype is not None and dtype.startswith("float") else TwoMeanings.ROUNDED
        if given.content is Content.UNKNOWN and not given.sizes and not self._is_data(argument):
            return TwoMeanings.SIZE_OR_DATA
        return None

    def _is_of_picture(self, shape: ast.expr) -> bool:
        """Whether a shape is that of what numpy or a library of pictures gives, an array: it is a tuple, and so data."""
        owner = shape.value if isinstance(shape, ast.Subscript) else shape
        owner = owner.value if isinstance(owner, ast.Attribute) else owner
        bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        return bool(bindings) and all(
            each.form is Form.ASSIGNMENT
            and not each.path
            and isinstance(each.value, ast.Call)
            and (self._semantics.qualified_name(each.value.func) or "").partition(".")[0] in _PICTURES
            for each in bindings
        )

    def _may_be_array(self, tensor: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether what is known as a tensor is an array elsewhere, or an item of what has values of other kinds.

        What loops over loaders give is one of those where the file makes no loader: it may be handed a dataset of arrays;
        or one that is told how to make batches, which may be of lists.
        """
        if self._semantics.kind(tensor).basis is Basis.BATCH and not self._collates_tensors():
            return True
        match tensor:
            case ast.IfExp(body=one, orelse=other) if depth:
                return not self._are_only_tensors((one, other), depth - 1)
            case ast.BoolOp(values=values) if depth:
                return not self._are_only_tensors(values, depth - 1)
            case ast.Subscript(value=ast.Attribute() | ast.Name() | ast.Subscript() as whole) if depth:
                return self._semantics.kind(whole).is_tensor and self._may_be_array(whole, depth - 1)
            case ast.Attribute():
                return not self._are_only_tensors(self._stored(tensor), depth - 1)
            case ast.Name():
                return self._names_array(tensor, depth)
            case ast.Call(func=function) if depth:
                called = self._semantics.facts.definition(function)
                returns = own_returns(called) if isinstance(called, FUNCTIONS) else ()
                return not self._are_only_tensors([each.value for each in returns], depth - 1)
        return False

    def _are_only_tensors(self, values: Iterable[ast.expr | None], depth: int) -> bool:
        """Whether all of several values are tensors, and no arrays by another way."""
        return all(
            each is not None and self._semantics.kind(each).is_tensor and not self._may_be_array(each, depth) for each in values
        )

    def _names_array(self, tensor: ast.Name, depth: int) -> bool:
        """Whether a variable that is known as a tensor may be an array, by anything that it is bound to where it is read."""
        bindings = self._semantics.bindings.reaching(tensor)
        if len(bindings) > 1 and not all(self._semantics.inference.binding_kind(each).is_tensor for each in bindings):
            return True  # a variable that is a tensor now and then: a global one, say
        values = [each.value for each in bindings if each.form is Form.ASSIGNMENT]
        return any(
            self._is_item_of_others(each)
            or self._semantics.kind(each).type is Type.ARRAY
            or (depth > 0 and self._semantics.kind(each).is_tensor and self._may_be_array(each, depth - 1))
            for each in values
            if each is not None
        )

    def _collates_tensors(self) -> bool:
        """Whether the file makes loaders, and leaves it to all of them what batches are made of."""
        loaders = self._semantics.facts.calls.get("DataLoader", ())
        return bool(loaders) and not any(word.arg in ("collate_fn", None) for call in loaders for word in call.keywords)

    def _is_item_of_others(self, item: ast.expr) -> bool:
        """Whether a value is an item of what not all its bindings make a tensor."""
        if not isinstance(item, ast.Subscript) or not isinstance(item.value, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(item.value)
        return len(bindings) > 1 and any(
            each.value is None or each.path or not self._semantics.kind(each.value).is_tensor for each in bindings
        )

    def _stored(self, tensor: ast.Attribute) -> list[ast.expr | None]:
        """What an attribute of ``self`` is given; ``None`` for a part of something."""
        owner = self._semantics.facts.self_class(tensor.value)
        if owner is None:
            return []
        stores = [store for slot in self._semantics.facts.slots(owner, tensor.attr) for store in slot.stores]
        statements = map(self._semantics.tree.parent, stores)
        return [each.value if isinstance(each, ast.Assign) else None for each in statements]

    def _is_of_dtype(self, tensor: ast.expr, made: TensorClass[ast.expr]) -> bool:
        """Whether a tensor is cast to the dtype of the class right there."""
        match tensor:
            case ast.Call(func=ast.Attribute(attr=cast)):
                return _CASTS.get(cast) == (made.dtype or "float32")
        return False

    def _is_made_integer(self, call: ast.Call, made: TensorClass[ast.expr]) -> bool:
        """Whether the floats that a constructor makes are made integers at once."""
        if made.dtype not in (None, "float32", "float16", "bfloat16"):
            return False
        method = self._semantics.tree.parent(call)
        cast = self._semantics.tree.parent(method) if isinstance(method, ast.Attribute) else None
        match cast:
            case ast.Call(func=ast.Attribute(attr="to" | "type"), args=[dtype, *_]) if cast.func is method:
                name = self._semantics.qualified_name(dtype) or ""
                return name in (
                    "torch.long",
                    "torch.int64",
                    "torch.int",
                    "torch.int32",
                    "torch.LongTensor",
                    "torch.cuda.LongTensor",
                )
            case ast.Call(func=ast.Attribute(attr=name)) if cast.func is method:
                return name in _TO_INTEGERS
        return False

    # --- a number that is no count -----------------------------------------------------------------------------------

    def _is_value(self, call: ast.Call, number: ast.expr) -> bool:
        """Whether a single number counts nothing, for all that is known, and the tensor is not filled by anything."""
        if self._semantics.kind(number).type is not Type.NUMBER or not isinstance(
            number, (ast.Name, ast.Attribute, ast.Subscript)
        ):
            return False
        if is_called_a_count(number) or self._counts(number):
            return False
        match self._semantics.tree.parent(call):
            case ast.Attribute(attr=method):
                return not method.endswith("_")
            case ast.Call():
                return False  # `nn.Parameter(torch.Tensor(n))`, and other calls that may fill it
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                return binding is not None and not any(map(self._is_perhaps_filled, binding.uses))
            case ast.Assign():
                return False
        return True

    def _counts(self, number: ast.expr) -> bool:
        """Whether a number is a length, or comes from where sizes are computed."""
        if not isinstance(number, ast.Name):
            return True
        values = [binding.value for binding in self._semantics.bindings.reaching(number)]
        return not values or not all(isinstance(value, ast.Constant) or self._is_read_off(value) for value in values)

    def _is_read_off(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item"

    def _is_perhaps_filled(self, use: ast.Name) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Attribute(attr=method):
                return method.endswith("_") or method == "data"
            case ast.Subscript(ctx=ast.Store()) | ast.Call() | ast.keyword():
                return True
        return False

    # --- data for certain --------------------------------------------------------------------------------------------

    def _is_data(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether something is no int for certain: what makes it gives more, or what is done with it an int cannot do."""
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))) if (
                _OF_MANY.fullmatch(name) is not None
            ):
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if method in _OF_DATA - {
                "count",
                "index",
                "max",
                "min",
                "sum",
                "mean",
            }:
                return True
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                module, _, last = name.rpartition(".")
                is_numpys = module.startswith("numpy") and last not in _NUMPYS_NUMBERS
                return is_numpys or (module == "builtins" and last in _MAKERS) or name in ("random.sample", "random.choices")
            case ast.Attribute(attr="T" | "values" | "real"):
                return True
            case ast.Subscript(slice=index) if _slices(index):
                return True
            case ast.BinOp(left=left, right=right) if depth:
                return self._is_data(left, depth - 1) or self._is_data(right, depth - 1)
            case ast.IfExp(body=body, orelse=other) if depth:
                return self._is_data(body, depth - 1) and self._is_data(other, depth - 1)
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(node)
                return any(self._binds_data(binding, depth - 1) for binding in bindings)
            case ast.Attribute(value=owner, attr=name) if depth:
                return self._is_slot_of_data(owner, name)
        return self._semantics.kind(node).type in (Type.SEQUENCE, Type.ARRAY, Type.TENSOR)

    def _binds_data(self, binding: Binding, depth: int) -> bool:
        """Whether a binding is of data: by its value, or by another use of the same name."""
        value = binding.value
        if binding.form is Form.ASSIGNMENT and not binding.path and value is not None and self._is_data(value, depth):
            return True
        if binding.path and isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "builtins.zip":
            return any(isinstance(argument, ast.Starred) for argument in value.args)  # `xs, ys = zip(*pairs)`
        return self._are_of_data(binding.uses)

    def _is_slot_of_data(self, owner: ast.expr, name: str) -> bool:
        definition = self._semantics.facts.self_class(owner)
        slots = self._semantics.facts.slots(definition, name) if definition is not None else []
        return any(self._are_of_data(slot.uses) or any(map(self._stores_data, slot.stores)) for slot in slots)

    def _stores_data(self, target: ast.Attribute) -> bool:
        parent = self._semantics.tree.parent(target)
        return isinstance(parent, ast.Assign) and target in parent.targets and self._is_data(parent.value, 1)

    def _are_of_data(self, uses: Iterable[ast.expr]) -> bool:
        return any(self._is_of_data(use) for use in uses)

    def _is_of_data(self, use: ast.expr) -> bool:
        """Whether a use asks for what an int has not: an element, a length, one by one."""
        match parent := self._semantics.tree.parent(use):
            case ast.Subscript(value=value):
                return value is use
            case ast.Attribute(attr=name):
                return name in _OF_DATA
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                return iterated is use
            case ast.Starred():
                return True
            case ast.Compare(ops=[*_, ast.In() | ast.NotIn()], comparators=[*_, container]):
                return container is use
            case ast.Call(func=ast.Name(id=name)):
                return use in parent.args and name in _READERS
        return False


def _slices(index: ast.expr) -> bool:
    """Whether an index gives a part, and no element."""
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Tuple) and any(map(_slices, index.elts)))


def _has_floats(node: ast.expr) -> bool:
    """Whether a display holds a number with a fraction, written out."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(_has_floats(each) for each in elements)
        case ast.ListComp(elt=element):
            return _has_floats(element)
        case ast.UnaryOp(operand=operand):
            return _has_floats(operand)
        case ast.Constant(value=float(value)):
            return value != int(value) if abs(value) < 1e18 else False
        case ast.Call(args=[data, *_]):
            return isinstance(data, (ast.List, ast.Tuple)) and _has_floats(data)
    return False


def _is_of_space(shape: ast.expr) -> bool:
    """Whether a shape is that of a space of gym, which is a tuple: data."""
    return isinstance(shape, ast.Attribute) and last_name(shape.value).endswith("space")


def _is_written_out(node: ast.expr) -> bool:
    """Whether data are small numbers, written out."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(map(_is_written_out, elements))
        case ast.UnaryOp(operand=operand):
            return _is_written_out(operand)
        case ast.BinOp(left=ast.List() as repeated, op=ast.Mult()):
            return _is_written_out(repeated)
    return isinstance(node, ast.Constant)
