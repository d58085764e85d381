from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from types import MappingProxyType

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.arguments import add_keywords, keyword_of
from torchlint.rules.ast_rule import AstRule
from torchlint.text.quotes import usual_quote
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Type, torch_api
from torchlint.target import TorchVersion

_DTYPES = MappingProxyType(
    {
        **{"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"},
        **{"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"},
    }
)
_HAS_AS_TENSOR = TorchVersion(1, 0)
_HAS_BOOL = TorchVersion(1, 2)
_FILLING = frozenset({"fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "copy_", "resize_", "exponential_"})
_COUNT = re.compile(
    r"(?:n|num|nb|max|in|out)_(?:feat|feats|features|channels|dims?|units|nodes|classes|heads|planes|hidden|in|out|len|length)"
    r"|(?:n|num|nb)(?:_.*)?|size|shape|dim|bsz|channels|units|length|nhid|ninp|ntokens?|nclass"
    r"|.+_(?:size|shape|dim|len|length|channels|num|count|units|hidden|bsz|planes)",
    re.IGNORECASE,
)
_CAMEL_COUNT = re.compile(r".*[a-z](?:Size|Dim|Dims|Len|Length|Count|Channels)|[BCDKLMNdkmn]")
"""Names of numbers of things: what a tensor is made with so many of."""


@dataclass(frozen=True, slots=True)
class _Class:
    """A legacy class of tensors: its dtype (none for the default one), and the device as the text of a keyword's value."""

    dtype: str | None
    device: str | None = None


_CLASSES = MappingProxyType(
    {
        "torch.Tensor": _Class(None),
        **{f"torch.{name}Tensor": _Class(dtype) for name, dtype in _DTYPES.items()},
        **{f"torch.cuda.{name}Tensor": _Class(dtype, "cuda") for name, dtype in _DTYPES.items()},
    }
)


_TENSOR_CLASS = re.compile(
    rb"Tensor\b(?!`)(?:"
    + "|".join(f"(?<={name}Tensor)" for name in _DTYPES).encode()
    + rb"|(?<!\wTensor)(?:[\s\\)]*\(|[\s\\]+as\b)|(?<=\.Tensor)[\s\\)]*(?:if|$|[\r\n;#]))",
    re.MULTILINE,
)


def _may_construct(data: bytes) -> bool:
    """Whether a file names a class of tensors in a way that may be a call of it or a test for it, or calls a ``new``."""
    return b".new(" in data or _TENSOR_CLASS.search(data) is not None


class _Content(Enum):
    """What a constructor is given."""

    SIZES = auto()
    LIST = auto()
    ARRAY = auto()
    TENSOR = auto()
    UNKNOWN = auto()


class LegacyConstructor(AstRule):
    """
    ## What it does
    Finds tensors made by calling a class, `torch.Tensor(x)`, `torch.FloatTensor(x)`, `torch.cuda.LongTensor(x)` and their
    like, by those names or by one that the file gives them, and by `x.new(…)`; and `isinstance(x, torch.cuda.FloatTensor)`.

    ## Why is this bad
    What the call means depends on what it gets. An integer is a size: `torch.FloatTensor(3)` has three elements that nobody
    has set. A list is data, which is copied. An array of the same dtype is not copied but shared, and any other is
    converted. A tensor is handed through: `torch.Tensor(labels)` of int64 labels is int64. All of them pass over
    `torch.set_default_device` and `with torch.device(…)`: the tensor stays on the CPU among others that do not.

    ## Example
    ```python
    weight = nn.Parameter(torch.Tensor(out_features, in_features))
    target = torch.LongTensor([0, 1, 1])
    inputs = torch.FloatTensor(np.zeros((3, 4)))
    state = hidden.new(3, 4).zero_()
    ```

    ## Use instead
    ```python
    weight = nn.Parameter(torch.empty(out_features, in_features))
    target = torch.tensor([0, 1, 1], dtype=torch.int64)
    inputs = torch.as_tensor(np.zeros((3, 4)), dtype=torch.float32)
    state = hidden.new_empty(3, 4).zero_()
    ```

    ## Fix safety
    Unsafe: the new functions follow the default device; `torch.as_tensor` converts tensors of another dtype, which the class
    refuses or hands through; `new_tensor` copies; bytes that the file selects by become booleans, without which selecting
    warns or raises. Where nothing tells whether a single argument is a size or data, its name and what is done to the tensor
    decide. No fix where the class is chosen by anything but a simple test, or where it is given a storage.

    ## References
    - [torch.Tensor: constructors](https://docs.pytorch.org/docs/stable/tensors.html)
    - [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
    """

    code = "TPL105"
    name = "legacy-constructor"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"Tensor", b"new"),
        check=_may_construct,
        names=frozenset({b".new", b"Tensor", b".Tensor"}),
    )

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a call of a class of tensors, or of a tensor's `new`, and tests for a class of CUDA tensors."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "new":
            self._visit_new(node, node.func)
        elif isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            self._visit_test(node)
        elif (made := self._class(node.func)) is not None:
            self._visit_construction(node, made)

    # --- classes -----------------------------------------------------------------------------------------------------

    def _class(self, function: ast.expr) -> _Class | None:
        """The class that is called, under whatever name."""
        name = self.semantics.qualified_name(function)
        if name is not None:
            return _CLASSES.get(name)
        if isinstance(function, ast.Name):
            bindings = self.semantics.bindings.reaching(function)
            if len(bindings) == 1 and isinstance(bindings[0].value, ast.IfExp):
                return self._chosen_class(function, bindings[0], bindings[0].value)
        return None

    def _chosen_class(self, use: ast.Name, binding: Binding, choice: ast.IfExp) -> _Class | None:
        """What ``torch.cuda.FloatTensor if cuda else torch.FloatTensor`` stands for, where one dtype is all it can be."""
        if binding.form is not Form.ASSIGNMENT or binding.path:
            return None
        chosen = [_CLASSES.get(self.semantics.qualified_name(part) or "") for part in (choice.body, choice.orelse)]
        if chosen[0] is None or chosen[1] is None or (chosen[0].dtype or "float32") != (chosen[1].dtype or "float32"):
            return None
        quote = usual_quote(self.source)
        on_true, on_false = (f"{quote}{one.device or 'cpu'}{quote}" for one in chosen if one is not None)
        test = self.source.segment(choice.test)
        device = f"{on_true} if {test} else {on_false}" if self._tells_the_same(choice.test, use) else ""
        return _Class(chosen[0].dtype or chosen[1].dtype, device)

    def _tells_the_same(self, test: ast.expr, use: ast.Name) -> bool:
        """Whether a test has the same outcome where the class is used as where it was chosen."""
        if isinstance(test, ast.Call):
            return self.semantics.qualified_name(test.func) == "torch.cuda.is_available" and not test.args
        first: ast.expr = test
        while isinstance(first, ast.Attribute):
            first = first.value
        if not isinstance(first, ast.Name):
            return False
        there = self.semantics.bindings.lookup(first.id, self.semantics.bindings.scope_of(use))
        return len(there) == 1 and there == self.semantics.bindings.reaching(first)

    # --- what is given -----------------------------------------------------------------------------------------------

    def _content(self, call: ast.Call) -> _Content:
        """What a constructor is given; a single argument of unknown kind may be either."""
        if len(call.args) != 1 or isinstance(call.args[0], ast.Starred) or keyword_of(call, "size") is not None:
            return _Content.SIZES
        argument = call.args[0]
        if self._is_shape(argument):
            return _Content.SIZES
        if isinstance(argument, (ast.List, ast.Tuple, ast.ListComp, ast.Set)):
            return _Content.LIST
        kind = self.semantics.kind(argument)
        match kind.type:
            case Type.NUMBER:
                return _Content.SIZES
            case Type.SEQUENCE:
                return _Content.LIST
            case Type.ARRAY:
                return _Content.ARRAY
            case Type.TENSOR:
                return _Content.TENSOR
        return _Content.UNKNOWN

    def _is_shape(self, node: ast.expr, depth: int = 3) -> bool:
        """Whether an expression is a `torch.Size`, which counts as sizes where a tuple would be data."""
        match node:
            case ast.Call(func=ast.Attribute(attr="size"), args=[], keywords=[]):
                return True
            case ast.Attribute(attr="shape", value=owner):
                return self.semantics.kind(owner).type is not Type.ARRAY
            case ast.Call(func=function) if self.semantics.qualified_name(function) == "torch.Size":
                return True
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._is_shape(value, depth)
            case ast.BinOp(left=left, op=ast.Add()):
                return self._is_shape(left, depth)
            case ast.Name() if depth:
                bindings = self.semantics.bindings.reaching(node)
                values = [found.value if found.form is Form.ASSIGNMENT and not found.path else None for found in bindings]
                return bool(values) and all(value is not None and self._is_shape(value, depth - 1) for value in values)
        return False

    def _guessed(self, call: ast.Call) -> _Content:
        """What an unknown single argument probably is: sizes, where what is made is filled later, or where it is called so."""
        parent = self.semantics.tree.parent(call)
        if isinstance(parent, ast.Attribute) and parent.attr in _FILLING:
            return _Content.SIZES
        return _Content.SIZES if _is_called_a_count(call.args[0]) else _Content.ARRAY

    # --- constructors ------------------------------------------------------------------------------------------------

    def _visit_construction(self, call: ast.Call, made: _Class) -> None:
        if any(word.arg not in ("size", "device") for word in call.keywords):
            return
        content = self._content(call)
        text = self._text(call)
        function = "empty" if self._means_sizes(content, call) else "tensor" if content is _Content.LIST else "as_tensor"
        if function == "as_tensor" and self.target < _HAS_AS_TENSOR:
            function = "tensor"
        torch, imports = self._rewriter.torch_name(call)
        words = self._keywords(call, made, content, torch, function)
        use = f"`torch.{function}({', '.join(['…', *words])})`"
        message = f"`{text}` {_MEANINGS[content]}: use {use}"
        if made.device == "" or self._is_storage(call):
            self.report(call, message)
            return
        edits = [(self.source.start(call.func), self.source.end(call.func), f"{torch}.{function}"), *imports]
        if not call.args and not call.keywords:
            edits.append(add_keywords(self.source, call, ", ".join(["0", *words])))
        elif words:
            edits.append(add_keywords(self.source, call, ", ".join(words)))
        self.report(call, message, self.fix(f"Use `torch.{function}`", edits, safe=False))

    def _is_storage(self, call: ast.Call) -> bool:
        given = call.args[0] if call.args else None
        return isinstance(given, ast.Call) and (self.semantics.qualified_name(given.func) or "").endswith("Storage")

    def _means_sizes(self, content: _Content, call: ast.Call) -> bool:
        return content is _Content.SIZES or (content is _Content.UNKNOWN and self._guessed(call) is _Content.SIZES)

    def _keywords(self, call: ast.Call, made: _Class, content: _Content, torch: str, function: str) -> list[str]:
        dtype = "bool" if made.dtype == "uint8" and self._is_mask(call) else made.dtype
        words = [f"dtype={torch}.{dtype}"] if dtype is not None else []
        if made.dtype is None and function != "empty" and not (content is _Content.LIST and _has_floats(call.args[0])):
            words = [f"dtype={torch}.get_default_dtype()" if self._changes_default else f"dtype={torch}.float32"]
        if made.device:
            quote = usual_quote(self.source)
            device = f"{quote}cuda{quote}" if made.device == "cuda" else made.device
            words += [f"device={device}"] if keyword_of(call, "device") is None else []
        return words

    def _is_mask(self, call: ast.Call) -> bool:
        """Whether the file uses the tensor to select by, which since torch 1.2 is done with booleans."""
        statement = self.semantics.tree.parent(call)
        if self.target < _HAS_BOOL or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        binding = self.semantics.bindings.of(statement.targets[0])
        return binding is not None and any(self._selects(use) for use in binding.uses)

    def _selects(self, use: ast.Name) -> bool:
        match self.semantics.tree.parent(use):
            case ast.Subscript(slice=index):
                return index is use
            case ast.Call(func=ast.Attribute(attr=method), args=[*arguments]) if method.startswith("masked_"):
                return use in arguments
        return False

    @cached_property
    def _changes_default(self) -> bool:
        """Whether the file sets the dtype that `torch.Tensor` has."""
        return "set_default_dtype" in self.source.text or "set_default_tensor_type" in self.source.text

    def _text(self, call: ast.Call) -> str:
        arguments = ast.unparse(call).partition(ast.unparse(call.func))[2]
        return f"{ast.unparse(call.func)}{arguments if len(arguments) <= 40 else '(…)'}"

    # --- x.new(…) ----------------------------------------------------------------------------------------------------

    def _visit_new(self, call: ast.Call, method: ast.Attribute) -> None:
        kind = self.semantics.kind(method.value)
        if call.keywords or not (kind.is_tensor or (not kind.known and self._is_filled(call))):
            return
        content = self._content(call)
        function = "new_empty" if self._means_sizes(content, call) else "new_tensor"
        edits = [self._rewriter.replace_attribute(method, f".{function}")]
        if not call.args:
            edits.append(add_keywords(self.source, call, "0"))
        message = f"`{self._text(call)}` {_MEANINGS[content]}: use `{ast.unparse(method.value)}.{function}(…)`"
        self.report(call, message, self.fix(f"Use `{function}`", edits, safe=False))

    def _is_filled(self, call: ast.Call) -> bool:
        """Whether the result is filled as only a tensor can be."""
        parent = self.semantics.tree.parent(call)
        return isinstance(parent, ast.Attribute) and parent.attr in _FILLING and parent.attr in torch_api.INPLACE_METHODS

    # --- isinstance --------------------------------------------------------------------------------------------------

    def _visit_test(self, call: ast.Call) -> None:
        if len(call.args) != 2 or call.keywords:
            return
        tensor, tested = call.args
        if not (self.semantics.qualified_name(tested) or "").startswith("torch.cuda.") or self._class(tested) is None:
            return
        if isinstance(tensor, ast.Attribute) and tensor.attr == "data":
            tensor = tensor.value
        text = f"{self._rewriter.operand(tensor)}.is_cuda"
        edit: TextEdit = (self.source.start(call), self.source.end(call), text)
        fix = self.fix(f"Use `{text}`", [edit], safe=False)
        self.report(call, f"`{ast.unparse(tested)}` is a legacy class: ask `{text}`, and the dtype by itself", fix)


_MEANINGS = MappingProxyType(
    {
        _Content.SIZES: "makes a tensor of which nothing is set, by a legacy constructor",
        _Content.LIST: "makes a tensor by a legacy constructor",
        _Content.ARRAY: "shares the memory of an array of that dtype and copies any other",
        _Content.TENSOR: "hands a tensor through, whatever its dtype, or refuses it",
        _Content.UNKNOWN: "takes an int for a size and anything else for data, by a legacy constructor",
    }
)


def _is_called_a_count(node: ast.expr) -> bool:
    """Whether an expression has the name of a number of things, or is computed from one that has."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return _COUNT.fullmatch(name) is not None or _CAMEL_COUNT.fullmatch(name) is not None
        case ast.Call(args=[ast.Constant(value=str(name)), *_]):
            return _COUNT.fullmatch(name) is not None
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith("num_")
        case ast.BinOp(left=left, op=ast.Mult() | ast.FloorDiv() | ast.Add() | ast.Sub(), right=right):
            return _is_called_a_count(left) or _is_called_a_count(right)
    return False


def _has_floats(node: ast.expr) -> bool:
    """Whether a display has a number with a point written out, so that it makes floats anyway."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    parts = [part.operand if isinstance(part, ast.UnaryOp) else part for part in parts]
    return any((isinstance(part, ast.Constant) and isinstance(part.value, float)) or _has_floats(part) for part in parts)
