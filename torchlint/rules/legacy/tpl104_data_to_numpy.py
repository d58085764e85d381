from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import after_method, expression, method_call
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Attribute
from torchlint.semantics import Grad
from torchlint.semantics.data.roles import Role
from torchlint.target import TorchVersion

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})


class DataToNumpy(Rule):
    """
    ## What it does
    Finds `.data` on the way from a tensor to an array or a list: `x.data.cpu().numpy()`, `x.cpu().data.numpy()`,
    `x.data.numpy()`, `x.data.tolist()`.

    Strict findings are those where there is no graph to leave, as far as the file shows: labels, indices, gradients,
    entries of state dicts, what an embedding is asked for, what frozen modules give (also those that their class freezes,
    or that all callers hand in so) or modules without parameters give of batches, what distributions sample, what says
    where others are read or written (`p.gather(1, word.data)`) or what is chosen (`[words[n] for n in row.data.numpy()]`),
    results of `torch.from_numpy` (also gathered in a list), of integers, of batches, arguments for which all calls, which
    are in the file alone, hand in such, or of code where autograd is off, as in a `validation_step` or the `forward` of an
    `autograd.Function`, by a decorator or a block of what is called in another file, or by all that calls a function, or
    calls what does, or a method by its name, in the project; and `x.data.cpu().tolist()`, whose numbers have none,
    `x.data.numpy().shape`, which `x.shape` tells as well, and `np.zeros_like(x.data.numpy())`. So are those where the
    function shows no graph: no layer, model or torch function computes the value there, nor a call whose result is called
    like an output or a loss (`logits`), nor is it called so and back-propagated. Arguments and attributes are strict however
    they are called, as is what methods compute that only have a model infer (`infer`, `sample`, `beam_search`), which is
    done with autograd off.

    ## Why is this bad
    `.data` was how code of torch 0.3 left the graph. Behind a move or a cast, as in `x.cpu().data`, it comes too late: the
    copy is recorded in the graph first. In front of it, it gives the same array as `.detach()` does; there the rule is
    about saying what is meant, in the one way that is right for every tensor. A loss becomes a number by `.item()`, without
    an array of it, and so does a tensor of one number, without the list of `x.view(-1).data.tolist()[0]`.

    ## Example
    ```python
    prediction = out.cpu().data.numpy()
    ```

    ## Use instead
    ```python
    prediction = out.detach().cpu().numpy()
    ```

    ## Fix safety
    Safe where the value is certainly a tensor, such as what torch's functions and layers give, or what is annotated as one:
    the array holds the same values, over the same memory. Other objects have a `.data` as well, packed sequences and batches
    among them, and cannot be detached; so cannot parameters of lazy layers before their first batch. Otherwise it is unsafe.
    So it is to add `.cpu()` where code of the file awaits the error of a tensor that is on a GPU, or has no memory. Just to
    drop `.data` is safe where the value certainly has no graph, which `numpy` refuses. `.item()` is safe where a loss of torch
    is put into a text by a format for numbers.

    ## References
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL104"
    name = "data-to-numpy"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Attribute("data"),)
    needs = (("numpy", "tolist"),)
    yields_to = ("TPL001", "TPL003")

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a `.data` on the way to the host."""
        access = self.model.data.access(node) if node.attr.value == "data" else None
        if access is None or access.role is not Role.HOST:
            return
        moves = _moves_before(node)
        origin = moves[-1].value if moves else node.value
        tensor = self.model.shown(origin)
        graphless = self.model.autograd.seems_graphless(node.value)
        if (number := self.model.data.meant_number(node)) is not None:
            item = expression("{tensor}.item()", tensor=number.tensor)
            message = f"`{self.model.shown(number.read)}` takes a detour to a number: use `{self.model.shown(item)}`"
            change = replace(number.read, item)
            self.report(node, message, fix("Use `.item()`", change, rests_on=number.alike), strict=graphless)
        elif (first := self._first_of_flat(node)) is not None and isinstance(node.value, cst.Call):
            assert isinstance(node.value.func, cst.Attribute)
            item = expression("{tensor}.item()", tensor=node.value.func.value)
            message = f"`{self.model.shown(first)}` takes a detour to a number: use `{self.model.shown(item)}`"
            rests_on = unknown("a tensor of several numbers has no `item()`")
            self.report(node, message, fix("Use `.item()`", replace(first, item), rests_on=rests_on))
        elif (array := self._array_for_form(node)) is not None:
            message = f"`{tensor}` tells its form itself: neither `.data` nor an array is needed"
            rests_on = unknown("a shape is a `torch.Size` then, and what raises on the GPU does no more")
            self.report(
                node, message, fix(f"Ask `{tensor}` itself", replace(array, node.value), rests_on=rests_on), strict=True
            )
        elif graphless or self._makes_numbers(node):
            self.report(
                node, f"{self._why_needless(node, tensor)}: `.data` is not needed", self._fix_without(node), strict=True
            )
        elif moves and not self.model.autograd.is_off(node):
            fixed = self._fix_behind_move(node, moves)
            self.report(node, self._moved_too_early(moves), fixed, strict=self._is_mere_style(node))
        else:
            graph = "the graph" if self._carries(origin) else "its graph, if it has one,"
            message = f"`{tensor}` leaves {graph} through `.data`, as in torch 0.3; detach it: `{self._detached(origin)}`"
            fixed = self._fix_behind_move(node, moves) if moves else self._fix_in_place(node)
            self.report(node, message, fixed, strict=self._is_mere_style(node))

    def _moved_too_early(self, moves: list[cst.Attribute]) -> str:
        origin = moves[-1].value
        when = "" if self._carries(origin) else f", if `{self.model.shown(origin)}` has one,"
        recorded = f"`.{moves[-1].attr.value}()` is recorded in the graph{when} before `.data` leaves it"
        return f"{recorded}: start with `{self._detached(origin)}`"

    def _carries(self, tensor: cst.BaseExpression) -> bool:
        """Whether a tensor has a graph as far as anybody can see: what callers hand in, may be anything."""
        if self.model.kind(tensor).grad not in (Grad.GRAPH, Grad.LEAF) or self.model.autograd.is_handed_in(tensor):
            return False
        return not self._is_of_frozen(tensor)

    def _is_of_frozen(self, tensor: cst.BaseExpression) -> bool:
        """Whether a module whose parameters are frozen gives a tensor, of what is not known to have a graph."""
        match tensor:
            case cst.Call(func=module, args=arguments):
                return self.model.training.is_frozen(module) and not any(self._carries(each.value) for each in arguments)
        return False

    def _detached(self, tensor: cst.BaseExpression) -> str:
        return self.model.shown(expression("{tensor}.detach()", tensor=tensor))

    def _why_needless(self, node: cst.Attribute, tensor: str) -> str:
        if self._makes_numbers(node):
            return f"the numbers that `.tolist()` makes of `{tensor}` have no graph"
        if self.model.autograd.is_graphless(node.value).is_certain:
            return f"`{tensor}` has no graph to leave"
        return f"nothing gives `{tensor}` a graph to leave"

    def _makes_numbers(self, node: cst.Attribute) -> bool:
        """Whether `.tolist()` follows immediately, which takes what requires grad as well."""
        match self.model.parent(node):
            case cst.Attribute(attr=cst.Name("tolist")):
                return not _moves_before(node)
        return False

    def _ends_in_numbers(self, node: cst.BaseExpression) -> bool:
        """Whether `.tolist()` follows, behind nothing but moves."""
        match self.model.parent(node):
            case cst.Attribute(attr=cst.Name("tolist")):
                return True
            case cst.Attribute(attr=cst.Name("cpu")) as method:
                call = self.model.parent(method)
                return isinstance(call, cst.Call) and self._ends_in_numbers(call)
        return False

    def _is_mere_style(self, node: cst.Attribute) -> bool:
        """Whether numbers or a form come out, or nothing shows a graph: a gradient, of a frozen module or a state dict."""
        match node.value:
            case cst.Attribute(attr=cst.Name("grad")):
                return True
        moves = _moves_before(node)
        origin = moves[-1].value if moves else node.value
        if self._is_of_frozen(origin) or not self.model.autograd.shows_graph(origin):
            return True
        return self._ends_in_numbers(node) or self.model.data.has_no_graph(node) or self.model.data.is_array_for_form(node)

    def _first_of_flat(self, node: cst.Attribute) -> cst.Subscript | None:
        """The number that a list is made for: `x.view(-1).data.tolist()[0]`."""
        match node.value, self.model.parent(node):
            case (
                cst.Call(
                    func=cst.Attribute(attr=cst.Name("view" | "reshape")),
                    args=[cst.Arg(cst.UnaryOperation(cst.Minus(), cst.Integer("1")))],
                ),
                cst.Attribute(attr=cst.Name("tolist")) as method,
            ):
                match self.model.parent(call) if (call := self.model.parent(method)) is not None else None:
                    case cst.Subscript(slice=[cst.SubscriptElement(cst.Index(cst.Integer("0")))]) as first:
                        return first
        return None

    def _array_for_form(self, node: cst.Attribute) -> cst.Call | None:
        """The array of which only the form is asked for: `x.data.numpy()` in front of `.shape`."""
        method = self.model.parent(node)
        array = self.model.parent(method) if isinstance(method, cst.Attribute) and method.attr.value == "numpy" else None
        match self.model.parent(array) if isinstance(array, cst.Call) else None:
            case cst.Attribute(attr=cst.Name("shape" | "ndim")) if isinstance(array, cst.Call):
                return array
        return None

    def _fix_without(self, node: cst.Attribute) -> CodeFix:
        """Leaves `.data` out; what requires grad has no `.numpy()`."""
        rests_on = self.model.kinds.is_tensor(node.value)
        if not self._makes_numbers(node):
            rests_on &= self.model.autograd.is_graphless(node.value)
        return fix("Drop `.data`", replace(node, node.value), rests_on=rests_on)

    def _fix_in_place(self, node: cst.Attribute) -> CodeFix:
        detached: cst.BaseExpression = method_call(node, "detach")
        rests_on = self.model.kinds.is_tensor(node.value)
        if self._is_converted(node):
            on_host = expression("{tensor}.cpu()", tensor=detached)
            rests_on &= self.model.code.ends_with_its_error(node, error="TypeError")
            return fix("Replace `.data` with `.detach().cpu()`", replace(node, on_host), rests_on=rests_on)
        return fix("Replace `.data` with `.detach()`", replace(node, detached), rests_on=rests_on)

    def _fix_behind_move(self, node: cst.Attribute, moves: list[cst.Attribute]) -> CodeFix:
        """Takes `.data` from behind `.cpu()` and detaches in front of it; where `.cpu()` is not said, it is added."""
        is_on_host = not self._is_converted(node) or any(map(self._moves_to_host, moves))
        moved = replace(node, node.value if is_on_host else method_call(node, "cpu"))
        first = moves[-1]
        rests_on = self.model.kinds.is_tensor(first.value)
        if not is_on_host:
            rests_on &= self.model.code.ends_with_its_error(node, error="TypeError")
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
