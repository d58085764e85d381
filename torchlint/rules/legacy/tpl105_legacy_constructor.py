from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import api, argument, expression, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.apis.constructors import Content, Given, TensorClass
from torchlint.target import TorchVersion

_HAS_AS_TENSOR = TorchVersion(1, 0)
_HAS_BOOL = TorchVersion(1, 2)
_DTYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
_MEANINGS = {
    Content.SIZES: "makes a tensor of which nothing is set, by a legacy constructor",
    Content.LIST: "makes a tensor by a legacy constructor",
    Content.ARRAY: "shares the memory of an array of that dtype and copies any other",
    Content.TENSOR: "hands a tensor through, whatever its dtype, or refuses it",
    Content.UNKNOWN: "takes an int for a size and anything else for data, by a legacy constructor",
}
_LONGEST = 40
"""So many characters of arguments a message shows."""


class LegacyConstructor(Rule):
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
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (
        Found(".apis.constructors:Constructors.made"),
        Found(".apis.constructors:Constructors.renewed"),
        Found(".apis.constructors:Constructors.tests"),
    )
    needs = (("new", "Tensor", *(f"{dtype}Tensor" for dtype in _DTYPES)),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call of a class of tensors, or of a tensor's `new`, and tests for a class of CUDA tensors."""
        if (made := self.model.apis.tensor_class(node)) is not None:
            self._visit_construction(node, made)
        elif self.model.apis.is_renewal(node):
            self._visit_new(node)
        elif (tested := self.model.apis.tested_gpu_class(node)) is not None:
            self._visit_test(node, tested)

    # --- classes -----------------------------------------------------------------------------------------------------

    def _visit_construction(self, call: cst.Call, made: TensorClass[cst.BaseExpression]) -> None:
        named = [each for each in call.args if each.keyword is not None or each.star == "**"]
        if any(each.keyword is None or each.keyword.value not in ("size", "device") for each in named):
            return
        given = self.model.apis.given(call)
        function = "empty" if given.sizes else "tensor" if given.content is Content.LIST else "as_tensor"
        if function == "as_tensor" and self.options.target < _HAS_AS_TENSOR:
            function = "tensor"
        words = self._words(call, made, given)
        shown = ", ".join(["…", *(f"{name}={self.model.code.written(value)}" for name, value in words.items())])
        message = f"`{self._shown(call)}` {_MEANINGS[given.content]}: use `torch.{function}({shown})`"
        if (made.chosen and made.if_ is None) or self._is_given_storage(call):
            self.report(call, message)
            return
        new = _given_zero(call) if not call.args else call
        for name, value in words.items():
            new = with_argument(new, name, value)
        new = new.with_changes(func=api(f"torch.{function}"))
        self.report(
            call,
            message,
            fix(
                f"Use `torch.{function}`",
                replace(call, new),
                rests_on=unknown("the new function may choose another device or dtype, or share memory otherwise"),
            ),
        )

    def _words(self, call: cst.Call, made: TensorClass[cst.BaseExpression], given: Given) -> dict[str, cst.BaseExpression]:
        """What makes a tensor of the same dtype on the same device."""
        words: dict[str, cst.BaseExpression] = {}
        if made.dtype == "uint8" and self.options.target >= _HAS_BOOL and self.model.apis.is_selector(call):
            words["dtype"] = api("torch.bool")
        elif made.dtype is not None:
            words["dtype"] = api(f"torch.{made.dtype}")
        elif not given.sizes and not (given.content is Content.LIST and _has_floats(call.args[0].value)):
            is_changed = self.model.apis.changes_default_dtype
            words["dtype"] = expression("{torch.get_default_dtype}()") if is_changed else api("torch.float32")
        if argument(call, "device") is None:
            words |= self._device(made)
        return words

    def _device(self, made: TensorClass[cst.BaseExpression]) -> dict[str, cst.BaseExpression]:
        """The device where it is said; a class that a test chose says it by the same test."""
        gpu, cpu = self.model.code.string("cuda"), self.model.code.string("cpu")
        if made.if_ is not None:
            return {
                "device": expression(
                    "{gpu} if {test} else {cpu}",
                    gpu=gpu if made.on_gpu else cpu,
                    test=self.model.code.plain(made.if_),
                    cpu=gpu if made.else_on_gpu else cpu,
                )
            }
        return {"device": gpu} if made.on_gpu and not made.chosen else {}

    def _is_given_storage(self, call: cst.Call) -> bool:
        match call.args:
            case [cst.Arg(cst.Call(function)), *_]:
                return self.model.name(function).endswith("Storage")
        return False

    def _shown(self, call: cst.Call) -> str:
        """The call, of its arguments no more than fits a message."""
        function = self.model.shown(call.func)
        arguments = self.model.shown(call).partition(function)[2]
        return f"{function}{arguments if len(arguments) <= _LONGEST else '(…)'}"

    # --- x.new(…) ----------------------------------------------------------------------------------------------------

    def _visit_new(self, call: cst.Call) -> None:
        method = call.func
        assert isinstance(method, cst.Attribute)
        given = self.model.apis.given(call)
        function = "new_empty" if given.sizes else "new_tensor"
        new = (_given_zero(call) if not call.args else call).with_changes(func=method.with_changes(attr=cst.Name(function)))
        tensor = self.model.shown(method.value)
        message = f"`{self._shown(call)}` {_MEANINGS[given.content]}: use `{tensor}.{function}(…)`"
        self.report(
            call,
            message,
            fix(
                f"Use `{function}`",
                replace(call, new),
                rests_on=unknown("the new function may choose another device or dtype, or share memory otherwise"),
            ),
        )

    # --- isinstance --------------------------------------------------------------------------------------------------

    def _visit_test(self, call: cst.Call, tested: cst.BaseExpression) -> None:
        tensor = call.args[0].value
        if isinstance(tensor, cst.Attribute) and tensor.attr.value == "data":
            tensor = tensor.value
        is_cuda = "{tensor}.is_cuda"
        shown = self.model.code.written(expression(is_cuda, tensor=self.model.code.plain(tensor)))
        asked = fix(
            f"Use `{shown}`",
            replace(call, expression(is_cuda, tensor=tensor)),
            rests_on=unknown("the new function may choose another device or dtype, or share memory otherwise"),
        )
        self.report(call, f"`{self.model.shown(tested)}` is a legacy class: ask `{shown}`, and the dtype by itself", asked)


def _given_zero(call: cst.Call) -> cst.Call:
    """A constructor without arguments made one of no elements."""
    return call.with_changes(args=[cst.Arg(cst.Integer("0"))])


def _has_floats(node: cst.BaseExpression) -> bool:
    """Whether a display has a number with a point written out, so that it makes floats anyway."""
    match node:
        case cst.List(elements) | cst.Tuple(elements):
            return any(_has_floats(each.value) or _is_float(each.value) for each in elements)
    return False


def _is_float(node: cst.BaseExpression) -> bool:
    return isinstance(node.expression if isinstance(node, cst.UnaryOperation) else node, cst.Float)
