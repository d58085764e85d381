from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import api, expression, holds_comment, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.devices.creations import Creation
from torchlint.target import TorchVersion

_FUNCTIONS = (
    *("zeros", "ones", "empty", "eye", "full", "scalar_tensor", "arange", "tensor", "tril_indices", "triu_indices"),
    *("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"),
    *("rand", "randn", "randint", "randperm", "normal", "linspace", "logspace"),
    *("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"),
)
_METHODS = ("new_zeros", "new_ones", "new_empty", "new_full")
_STEPS = (
    *("to", "cuda", "type", "type_as"),
    *("float", "double", "half", "bfloat16", "int", "long", "short", "byte", "char", "bool"),
)
_LONGEST = 40


class CreateThenMove(Rule):
    """
    ## What it does
    Finds tensors that a factory makes in one place or dtype and that are copied to another at once: `torch.zeros(n).cuda()`,
    `torch.randn(n).to(device)`, `torch.arange(n).float()`, `torch.ones(n).type_as(x)`; and `x = torch.zeros(n)`, where a
    later statement beside it moves it, `x = x.to(device)`, and nothing reads it in between.

    ## Why is this bad
    The tensor is made twice. One made on the CPU is filled by the CPU, waits in host memory, and goes over the bus; the factory
    can make it on the device, with the dtype that is wanted. A cast alone costs little: that is strict, and so is what
    follows a tensor in both by one argument, `torch.ones(n).to(x)`, for which the fix is longer, what a statement of its own
    moves later, for which two statements have to be written anew, and a single
    number that a constructor makes once, `torch.zeros(1)`, or that is given as one, `torch.tensor(0).float().to(device)`, or
    none at all, `torch.zeros(b, 0)`, and so is an input that is made up to try something out once: in a test, under `if
    __name__ == "__main__":` of a file in which no optimizer takes a step, in a function that counts operations, a
    `dummy_input`, what a model's operations are counted with or only the form of its output is read of, an image of written
    sizes that is only given to calls where nothing is trained; and so is `torch.zeros(n).to(x.device)` in a script, or
    a project, that trains and speaks of no device but those of tensors, and in a `Dataset` that does; and where that `x` was
    made on the CPU, as the line shows that makes it.

    A cast that changes nothing (`torch.zeros(n).float()`) makes no second tensor and is not reported, and neither is
    `torch.tensor(data).to(device)`: data comes from the host in any case. `torch.zeros_like(x).to(device)` is on the device of
    `x` to begin with.

    ## Example
    ```python
    hidden = torch.zeros(layers, batch, size).to(device)
    positions = torch.arange(length).float().cuda()
    ```

    ## Use instead
    ```python
    hidden = torch.zeros(layers, batch, size, device=device)
    positions = torch.arange(length, dtype=torch.float32, device="cuda")
    ```

    ## Fix safety
    Safe where the tensor's values are the same wherever they are made (zeros, ones, ranges with a step of one, constants that
    fit the dtype), and what it is moved or cast to is certainly a device, a dtype, or a tensor. Unsafe for random numbers,
    which the device's own generator draws, for values that are computed or rounded (`torch.linspace`,
    `torch.full(size, 0.1).double()`), for leaves that require grad, behind `expand`, whose copy can be written to, where
    `.cuda(gpu)` may be given None, and for an argument that is called `device` but may be anything: an annotation
    `device: torch.device` says what it is, and so do the calls where all are in the file, none in another; for a tensor that
    is given another shape first and is not only read, since a view cannot be changed in place everywhere; and where the file
    sets a default dtype, or awaits the error of a move. There is no fix
    where a comment stands inside the call that would go, nor where the move is a statement of its own.

    Not reported are random numbers for which a generator is passed, or where the same function seeds the CPU's or saves its
    state, moves to a device that is an expression over several lines, what requires grad and is then changed in place, which
    a leaf cannot be, and what is made to be traced.

    ## References
    - [Create tensors directly on the target device](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TPL401"
    name = "create-then-move"
    severity = "warning"
    triggers = (Found(".devices.creations:Creations.copied"),)
    needs = (("torch", *_METHODS), (*_FUNCTIONS, *_METHODS), _STEPS)
    since = TorchVersion(0, 4)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the last move or cast behind a factory's call, or the call itself where it gets a name in between."""
        creation = self.model.devices.creation(node)
        if creation is None:
            return
        words = self._words(creation)
        made, steps = self.model.shown(creation.factory.func), "".join(map(self._step, creation.steps))
        written = ", ".join(f"{name}={self.model.code.written(value)}" for name, value in words.items())
        how = f"`{made}(…){steps}`"
        if creation.apart:
            how = f"`{made}(…)` with `{steps}` in line {self.model.line(creation.steps[-1])}"
        self.report(
            node,
            f"{how} makes the tensor twice: pass `{written}` to `{made}`",
            None if creation.apart or any(map(_is_explained, creation.steps)) else _fix(creation, words),
            strict=creation.device is None
            or creation.apart
            or creation.tried
            or creation.stays
            or _is_said_by_one(creation, words)
            or _is_beside_another(creation)
            or self._is_kept(node),
        )

    def _is_kept(self, node: cst.Call) -> bool:
        """Whether a tensor is kept under a key that names the device, so that each device has its own once."""
        match self.model.statement(node):
            case cst.Assign(targets=[cst.AssignTarget(cst.Subscript() as entry)], value=value) if value is node:
                return "device" in self.model.text(entry)
            case cst.Expr(value=value):
                return value is node  # nothing gets it: it warms up
        return False

    def _words(self, creation: Creation[cst.Call, cst.BaseExpression]) -> dict[str, cst.BaseExpression]:
        """The keyword arguments that ask the factory for what the moves and casts do."""
        words = {}
        if creation.dtype is not None:
            words["dtype"] = self._argument(creation.dtype)
        elif creation.known_dtype:
            words["dtype"] = self._dtype(creation.factory, creation.known_dtype)
        if creation.device is not None:
            words["device"] = self._argument(creation.device)
        return words

    def _dtype(self, factory: cst.Call, name: str) -> cst.BaseExpression:
        """A dtype of torch, in the words of the factory's call where that names torch."""
        match factory.func:
            case cst.Attribute(torch) if self.model.name(torch) == "torch":
                return expression(f"{{torch}}.{name}", torch=torch.with_changes(lpar=(), rpar=()))
        return api(f"torch.{name}")

    def _argument(self, part: cst.BaseExpression | str) -> cst.BaseExpression:
        """A device or dtype as a new argument, on one line."""
        return cst.parse_expression(part) if isinstance(part, str) else self.model.code.plain(part)

    def _step(self, call: cst.Call) -> str:
        """A move or cast with its arguments as they are written, or with dots where they are long."""
        arguments = ", ".join(self.model.text(each if each.keyword is not None else each.value) for each in call.args)
        is_short = len(arguments) <= _LONGEST and "\n" not in arguments and "\r" not in arguments
        return f".{_method(call).attr.value}({arguments if is_short else '…'})"


def _fix(creation: Creation[cst.Call, cst.BaseExpression], words: dict[str, cst.BaseExpression]) -> CodeFix:
    """Gives the factory's call the arguments, and takes the steps away."""
    made = creation.factory
    for name, value in words.items():
        made = with_argument(made, name, value)
    return fix(
        "Make it where and as it is wanted",
        replace(creation.factory, made),
        *(replace(step, _method(step).value) for step in creation.steps),
        rests_on=creation.same,
    )


def _is_said_by_one(creation: Creation[cst.Call, cst.BaseExpression], words: dict[str, cst.BaseExpression]) -> bool:
    """Whether both dtype and device of a tensor are given by one argument: `torch.rand(n).to(x)` is shorter."""
    if [len(step.args) for step in creation.steps] != [1]:
        return False
    match words:
        case {"dtype": cst.Attribute(one, cst.Name("dtype")), "device": cst.Attribute(other, cst.Name("device"))}:
            return one.deep_equals(other)
    return False


def _is_beside_another(creation: Creation[cst.Call, cst.BaseExpression]) -> bool:
    """Whether a tensor is made like another one, which may be where it is moved to already."""
    return _name(creation.factory).endswith("_like")


def _name(call: cst.Call) -> str:
    match call.func:
        case cst.Attribute(attr=cst.Name(name)) | cst.Name(name):
            return name
    return ""


def _is_explained(step: cst.Call) -> bool:
    """Whether a comment stands inside a step, from its dot on."""
    method = _method(step)
    dot = method.dot.with_changes(whitespace_before=cst.SimpleWhitespace(""))
    return holds_comment(step.with_changes(func=method.with_changes(value=cst.Name("x"), dot=dot), lpar=(), rpar=()))


def _method(step: cst.Call) -> cst.Attribute:
    """The method of a step, with what it is called on."""
    return cst.ensure_type(step.func, cst.Attribute)
