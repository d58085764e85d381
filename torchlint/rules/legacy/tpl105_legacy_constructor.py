from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import api, argument, expression, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.apis.constructors import Content, Given, TensorClass
from torchlint.semantics.apis.two_meanings import TwoMeanings
from torchlint.target import TorchVersion

_HAS_AS_TENSOR = TorchVersion(1, 0)
_HAS_BOOL = TorchVersion(1, 2)
_DTYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
_MEANINGS = {
    Content.SIZES: "makes a tensor of which nothing is set, by a legacy constructor",
    Content.SHAPE: "takes the shape of a tensor for sizes, by a legacy constructor",
    Content.STORAGE: "makes a tensor over a storage, by a legacy constructor",
    Content.LIST: "makes a tensor by a legacy constructor",
    Content.ARRAY: "makes a tensor of an array, by a legacy constructor",
    Content.TENSOR: "hands a tensor through, by a legacy constructor",
    Content.UNKNOWN: "makes a tensor by a legacy constructor",
}
_TWO_MEANINGS = {
    TwoMeanings.SIZE_OR_DATA: "takes an int for a size, of which nothing is set, and anything else for data",
    TwoMeanings.COUNT_OR_VALUE: "takes an int for a size, of which nothing is set, refuses a float, and holds neither",
    TwoMeanings.SIZE_OR_SHAPE: "takes the shape of a tensor for sizes, and that of an array for data",
    TwoMeanings.ANY_DTYPE: "hands a tensor through, whatever its dtype, or refuses it",
    TwoMeanings.CUT_OFF: "cuts off what stands behind the point",
    TwoMeanings.ROUNDED: "makes floats of what is to be integers, and rounds large ones",
}
_SHARES = "shares the memory of an array of that dtype, which is changed here, and copies any other"
_ADVICE: dict[TwoMeanings | Content | None, str] = {
    TwoMeanings.COUNT_OR_VALUE: "use `torch.tensor(…)` for the number, `torch.empty(…)` for a size",
    TwoMeanings.SIZE_OR_SHAPE: "use `torch.empty(…)` for sizes, `torch.tensor(…)` for data",
    TwoMeanings.CUT_OFF: "use `torch.tensor(…)` with a dtype that holds them",
    Content.STORAGE: "use `torch.empty(0, …).set_(…)`",
}
"""What to do where nothing tells which function does the same, or none does; so there is no fix."""
_INTEGERS = {
    **{name: "int64" for name in ("long", "int64", "LongTensor")},
    **{name: "int32" for name in ("int", "int32")},
    **{"short": "int16", "char": "int8", "byte": "uint8"},
}
_LONGEST = 40
"""So many characters of arguments a message shows."""
_DATED = ".aliasing.dated_constructions:DatedConstructions.found"


class LegacyConstructor(Rule):
    """
    ## What it does
    Finds tensors made by calling a class, `torch.Tensor(x)`, `torch.FloatTensor(x)`, `torch.cuda.LongTensor(x)` and their
    like, by those names or by one that the file gives them, and by `x.new(…)`; and `isinstance(x, torch.cuda.FloatTensor)`.

    By default it reports where a line means another thing than it seems: a number that is taken for a size and is called
    nothing of the kind, a tensor of any dtype, an array that is changed and may be shared, integers that are made of floats,
    and large ones that floats round (`torch.Tensor([hash(w) for w in words]).long()`). The rest is strict: what is dated and
    does what it says (`torch.Tensor(3, 4)`, `torch.LongTensor([0, 1])`, `x.new(x.size())`), and an argument of which nothing
    here tells whether it is a size or data (`torch.FloatTensor(state)`, `torch.Tensor(x.shape)`): where it was read on real
    code, nine in ten were always data. So are integers of which none is known to be above 2**24, up to which floats of 32
    bits hold each (`torch.Tensor(ids).long()`; of 16 bits, those that are small: `[x, y]`, lengths, boxes, pictures), a
    tensor of the same dtype, where all see how it is made (`torch.FloatTensor(torch.zeros(3))`), and one that is cast right
    behind: `torch.Tensor(x).cuda().float()`.

    ## Why is this bad
    What the call means depends on what it gets. An integer is a size: `torch.FloatTensor(3)` has three elements that nobody
    has set. A list is data, which is copied. An array of the same dtype is not copied but shared, and any other is
    converted. A tensor is handed through: `torch.Tensor(labels)` of int64 labels is int64. All of them pass over
    `torch.set_default_device` and `with torch.device(…)`: the tensor stays on the CPU among others that do not.

    ## Example
    ```python
    def act(self, state):
        state = torch.FloatTensor(state)
        labels = torch.Tensor(self.labels).long()
        hidden = state.new(3, 4).zero_()
    ```

    ## Use instead
    ```python
    def act(self, state):
        state = torch.as_tensor(state, dtype=torch.float32)
        labels = torch.as_tensor(self.labels, dtype=torch.int64)
        hidden = state.new_empty(3, 4).zero_()
    ```

    ## Fix safety
    Unsafe: the new functions follow the default device; `torch.as_tensor` converts tensors of another dtype, which the class
    refuses or hands through; `new_tensor` copies; bytes that the file selects by become booleans, without which selecting
    warns or raises. Where nothing tells whether a single argument is a size or data, its name and what is done to the tensor
    decide. No fix where the class is chosen by anything but a simple test, where it is given a storage, and where only the
    author knows which of the meanings is meant: a number, a shape, numbers with a point in a tensor of integers.

    ## References
    - [torch.Tensor: constructors](https://docs.pytorch.org/docs/stable/tensors.html)
    - [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
    """

    code = "TPL105"
    name = "legacy-constructor"
    severity = "warning"
    yields_to = ("TPL007",)
    since = TorchVersion(0, 4)
    triggers = (
        Found(".apis.constructors:Constructors.made", _DATED),
        Found(".apis.constructors:Constructors.renewed", _DATED),
        Found(".apis.constructors:Constructors.tests", _DATED),
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
        given, two = self.model.apis.given(call), self.model.apis.two_meanings(call)
        function = "empty" if given.sizes else "tensor" if given.content is Content.LIST else "as_tensor"
        if function == "as_tensor" and self.options.target < _HAS_AS_TENSOR:
            function = "tensor"
        cast = self._cast(call) if two is TwoMeanings.ROUNDED else None
        words = self._words(call, made, given) if cast is None else {"dtype": api(f"torch.{cast[1]}"), **self._device(made)}
        shown = ", ".join(["…", *(f"{name}={self.model.code.written(value)}" for name, value in words.items())])
        advice = _ADVICE.get(two) or _ADVICE.get(given.content) or f"use `torch.{function}({shown})`"
        new = _given_zero(call) if not call.args else call
        for name, value in words.items():
            new = with_argument(new, name, value)
        new = new.with_changes(func=api(f"torch.{function}"))
        is_told = not made.chosen or made.if_ is not None
        mended = self._fix(f"torch.{function}", cast[0] if cast is not None else call, new, given, two) if is_told else None
        self._report(call, given, two, advice, mended)

    def _report(self, call: cst.Call, given: Given, two: TwoMeanings | None, advice: str, mended: CodeFix | None) -> None:
        """Reports a tensor's making; strictly, where the line means one thing."""
        is_shared = two is None and self.model.memory.is_change_perhaps_shared(call)
        meaning = _SHARES if is_shared else _TWO_MEANINGS[two] if two is not None else _MEANINGS[given.content]
        self.report(call, f"`{self._shown(call)}` {meaning}: {advice}", mended, strict=self.model.memory.is_but_dated(call))

    def _fix(self, name: str, old: cst.Call, new: cst.Call, given: Given, two: TwoMeanings | None) -> CodeFix | None:
        """The function in the place of the constructor, where it is clear which one does the same."""
        if two in _ADVICE or given.content in _ADVICE:
            return None
        doubt = unknown("the new function may choose another device or dtype, or share memory otherwise")
        return fix(f"Use `{name}`", replace(old, new), rests_on=doubt)

    def _cast(self, call: cst.Call) -> tuple[cst.Call, str] | None:
        """The call that makes integers of what ``call`` makes, and their dtype."""
        match method := self.model.parent(call):
            case cst.Attribute(attr=cst.Name(name)) if isinstance(cast := self.model.parent(method), cst.Call):
                asked = self.model.name(cast.args[0].value) if cast.args else ""
                dtype = _INTEGERS.get(asked.rpartition(".")[2] or name)
                return (cast, dtype) if dtype is not None and len(cast.args) <= 1 else None
        return None

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

    def _shown(self, call: cst.Call) -> str:
        """The call, of its arguments no more than fits a message."""
        function = self.model.shown(call.func)
        arguments = self.model.shown(call).partition(function)[2]
        return f"{function}{arguments if len(arguments) <= _LONGEST else '(…)'}"

    # --- x.new(…) ----------------------------------------------------------------------------------------------------

    def _visit_new(self, call: cst.Call) -> None:
        method = call.func
        assert isinstance(method, cst.Attribute)
        given, two = self.model.apis.given(call), self.model.apis.two_meanings(call)
        function = "new_empty" if given.sizes else "new_tensor"
        new = (_given_zero(call) if not call.args else call).with_changes(func=method.with_changes(attr=cst.Name(function)))
        advice = _ADVICE.get(two) or _ADVICE.get(given.content) or f"use `{self.model.shown(method.value)}.{function}(…)`"
        self._report(call, given, two, advice, self._fix(function, call, new, given, two))

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
        message = f"`{self.model.shown(tested)}` is a legacy class: ask `{shown}`, and the dtype by itself"
        self.report(call, message, asked, strict=True)


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
