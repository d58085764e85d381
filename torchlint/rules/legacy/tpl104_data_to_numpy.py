from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import after_method, expression, method_call
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Attribute
from torchlint.semantics.data.roles import Role
from torchlint.target import TorchVersion

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})


class DataToNumpy(Rule):
    """
    ## What it does
    Finds `.data` on the way from a tensor to an array or a list: `x.data.cpu().numpy()`, `x.cpu().data.numpy()`,
    `x.data.numpy()`, `x.data.tolist()`.

    ## Why is this bad
    `.data` was how code of torch 0.3 left the graph. Behind a move or a cast, as in `x.cpu().data`, it comes too late: the
    copy is recorded in the graph first. In front of it, it gives the same array as `.detach()` does; there the rule is
    about saying what is meant, in the one way that is right for every tensor.

    ## Example
    ```python
    prediction = out.cpu().data.numpy()
    ```

    ## Use instead
    ```python
    prediction = out.detach().cpu().numpy()
    ```

    ## Fix safety
    Safe where the value is certainly a tensor, such as what torch's functions and layers give, or what is annotated as one: the
    array holds the same values, over the same memory. Other objects have a `.data` as well, packed sequences and batches among
    them, and cannot be detached; so cannot parameters of lazy layers before their first batch. Otherwise it is unsafe.

    ## References
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL104"
    name = "data-to-numpy"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Attribute("data"),)
    needs = (("numpy", "tolist"),)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a `.data` on the way to the host."""
        access = self.model.data.access(node) if node.attr.value == "data" else None
        if access is None or access.role is not Role.HOST:
            return
        moves = _moves_before(node)
        tensor = self.model.shown(moves[-1].value if moves else node.value)
        message = f"`{tensor}` leaves the graph through `.data`; detach it first: `{tensor}.detach()`"
        self.report(node, message, self._fix_behind_move(node, moves) if moves else self._fix_in_place(node))

    def _fix_in_place(self, node: cst.Attribute) -> CodeFix:
        detached: cst.BaseExpression = method_call(node, "detach")
        rests_on = self.model.kinds.is_tensor(node.value)
        if self._is_converted(node):
            on_host = expression("{tensor}.cpu()", tensor=detached)
            return fix("Replace `.data` with `.detach().cpu()`", replace(node, on_host), rests_on=rests_on)
        return fix("Replace `.data` with `.detach()`", replace(node, detached), rests_on=rests_on)

    def _fix_behind_move(self, node: cst.Attribute, moves: list[cst.Attribute]) -> CodeFix:
        """Takes `.data` from behind `.cpu()` and detaches in front of it; where `.cpu()` is not said, it is added."""
        is_on_host = not self._is_converted(node) or any(map(self._moves_to_host, moves))
        moved = replace(node, node.value if is_on_host else method_call(node, "cpu"))
        first = moves[-1]
        rests_on = self.model.kinds.is_tensor(first.value)
        if self._is_detached(first.value):
            return fix("Drop `.data`", moved, rests_on=rests_on)
        return fix("Detach before moving", moved, replace(first, after_method(first, "detach")), rests_on=rests_on)

    def _is_detached(self, base: cst.BaseExpression) -> bool:
        """Whether what is moved has been taken out of the graph right before: ``Variable(x.data).cpu().data``."""
        match base:
            case cst.Call(args=[cst.Arg(inner, keyword=None, star="")]) if self._is_variable(base):
                return self._is_detached(inner)
            case cst.Attribute(tensor, cst.Name("data")) | cst.Call(func=cst.Attribute(tensor, cst.Name("detach"))):
                return self.model.kinds.is_tensor(tensor).is_certain  # of another object, it may be anything
        return False

    def _is_variable(self, call: cst.Call) -> bool:
        return self.model.name(call.func) == "torch.autograd.Variable"

    def _is_converted(self, node: cst.Attribute) -> bool:
        """Whether `.numpy()` follows immediately, which only what is on the host has."""
        match self.model.parent(node):
            case cst.Attribute(attr=cst.Name("numpy")):
                return True
        return False

    def _moves_to_host(self, method: cst.Attribute) -> bool:
        match self.model.parent(method):
            case cst.Call(args=[cst.Arg(cst.SimpleString() as device, keyword=None, star=""), *_]):
                return method.attr.value == "to" and str(device.evaluated_value).startswith("cpu")
        return method.attr.value == "cpu"


def _moves_before(node: cst.Attribute) -> list[cst.Attribute]:
    """The methods that move or cast the tensor before ``node``, the last one first."""
    moves: list[cst.Attribute] = []
    value = node.value
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value in _MOVES:
        moves.append(value.func)
        value = value.func.value
    return moves
