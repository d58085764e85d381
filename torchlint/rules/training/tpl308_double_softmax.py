from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.modules.activations import Activations, Origin, Output
from torchlint.target import TorchVersion

_EXPECTS = {
    "torch.nn.CrossEntropyLoss": "log-softmax",
    "torch.nn.functional.cross_entropy": "log-softmax",
    "torch.nn.BCEWithLogitsLoss": "sigmoid",
    "torch.nn.functional.binary_cross_entropy_with_logits": "sigmoid",
    "torch.nn.MultiLabelSoftMarginLoss": "sigmoid",
    "torch.nn.functional.multilabel_soft_margin_loss": "sigmoid",
    "torch.nn.NLLLoss": "nothing",
    "torch.nn.functional.nll_loss": "nothing",
}
"""What a loss applies to its input before it compares."""
_WRONG = {
    "log-softmax": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOG_SOFTMAX}),
    "sigmoid": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOG_SOFTMAX}),
    "nothing": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOGITS}),
}
_INVERSES = {Output.SOFTMAX: "log", Output.SIGMOID: "logit"}
_INVERTIBLE = frozenset({("log-softmax", "log"), ("log-softmax", "logit"), ("sigmoid", "logit"), ("nothing", "log")})
"""What a loss expects, and the functions that make it of probabilities."""
_HAS_LOGIT = TorchVersion(1, 7)
_ORDERING = frozenset({"argmax", "topk", "sort", "argsort", "size", "shape", "dim", "device", "dtype", "numel", "ndim"})
_CHOOSING = frozenset({f"torch.{name}" for name in ("argmax", "topk", "sort", "argsort", "is_tensor")} | {"builtins.len"})
_PASSING = frozenset({"data", "detach", "cpu", "view", "squeeze", "reshape", "float", "to", "cuda"})

_LOSSES = (
    b"CrossEntropyLoss",
    b"cross_entropy",
    b"BCEWithLogits",
    b"NLLLoss",
    b"nll_loss",
    b"oft_margin_loss",
    b"SoftMarginLoss",
)


@dataclass(frozen=True, slots=True)
class _Loss:
    """A call of a loss: what computes it, what it is given, what it expects."""

    call: ast.Call
    value: ast.expr
    name: str
    expects: str


class DoubleSoftmax(AstRule):
    """
    ## What it does
    Finds losses that are given what they do not expect: the output of a softmax or sigmoid given to `CrossEntropyLoss` or
    `BCEWithLogitsLoss`, which apply one themselves, and logits or probabilities given to `NLLLoss`, which expects their
    log-softmax. Values are followed through names, layers, `nn.Sequential` and the model's `forward` in the same file.

    ## Why is this bad
    Nothing fails: the loss goes down, slowly. A softmax of probabilities can tell two classes apart by a factor of e at most,
    so the loss cannot come near zero and its gradient is a fraction of what it should be. `NLLLoss` of logits has no lower
    bound at all. A second log-softmax, and only that, changes nothing but takes time.

    ## Example
    ```python
    def step(model, x, y):
        probabilities = F.softmax(model(x), dim=1)
        return F.cross_entropy(probabilities, y)
    ```

    ## Use instead
    ```python
    def step(model, x, y):
        probabilities = model(x)
        return F.cross_entropy(probabilities, y)
    ```

    ## Fix safety
    Unsafe: the loss is another one, and what the model returns may be, too. The activation is taken away where nothing else in
    the file needs its result, `NLLLoss` of logits becomes `CrossEntropyLoss`, and otherwise the loss is given the logarithm of
    the probabilities, or `torch.logit` of what a sigmoid made, which are infinite where a probability has become zero.
    Where none of these is possible there is no fix.

    ## References
    - [torch.nn.CrossEntropyLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html)
    """

    code = "TPL308"
    name = "double-softmax"
    screen = Screen(any_of=_LOSSES, pattern=re.compile(rb"NLLLoss|nll_loss|oftmax|igmoid|expit"))

    def visit_Call(self, node: ast.Call) -> None:
        """Looks at what a loss is given."""
        loss = self._loss(node)
        if loss is None:
            return
        origin = self._activations.origin(loss.value)
        if origin is not None and origin.output in _WRONG[loss.expects]:
            self.report(loss.value, self._message(loss, origin), self._fix(loss, origin))

    @cached_property
    def _activations(self) -> Activations:
        return Activations(self.semantics)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def _loss(self, call: ast.Call) -> _Loss | None:
        words = [word.value for word in call.keywords if word.arg == "input"]
        values = [*call.args[:1], *words]
        if len(values) != 1 or isinstance(values[0], ast.Starred):
            return None
        if isinstance(call.func, ast.Attribute) and call.func.attr in torch_api.TENSOR_ATTRIBUTES:
            return None  # a tensor's method, of which there are many
        name = self.semantics.qualified_name(call.func)
        if name is None or name not in _EXPECTS:
            kind = self.semantics.kind(call.func)
            name = kind.name if kind.type is Type.MODULE else None
        elif name.startswith("torch.nn.") and "functional" not in name:
            return None  # the construction of the loss
        return _Loss(call, values[0], name, _EXPECTS[name]) if name in _EXPECTS else None

    # --- the message -------------------------------------------------------------------------------------------------

    def _message(self, loss: _Loss, origin: Origin) -> str:
        called = ast.unparse(loss.call.func)
        label = loss.name.rpartition(".")[2]
        shown = f"`{called}`" if label in called else f"`{called}` (`{label}`)"
        given = self._shown(loss.value)
        made = f"made by `{ast.unparse(origin.node)}` in line {origin.node.lineno}{'' if origin.unique else ' and elsewhere'}"
        if origin.output is Output.LOGITS:
            return f"{shown} expects log-probabilities, but {given} holds logits, {made}; use `CrossEntropyLoss`"
        what = {Output.SOFTMAX: "probabilities", Output.SIGMOID: "probabilities"}.get(origin.output, "log-probabilities")
        if loss.expects == "nothing":
            return f"{shown} expects log-probabilities, but {given} holds {what}, {made}; give it their logarithm"
        if (loss.expects, origin.output) == ("log-softmax", Output.LOG_SOFTMAX):
            return f"{shown} applies log-softmax a second time, to {given}, {made}; give it the logits, or use `NLLLoss`"
        keeping = ", and keep these for their other uses" if self._is_needed(loss, origin) else ""
        applies = f"{shown} applies {loss.expects} to {given}"
        if origin.node is loss.value:
            return f"{applies}, which gives {what} already; give it the logits"
        return f"{applies}, which holds {what} already, {made}; give it the logits{keeping}"

    def _shown(self, value: ast.expr) -> str:
        text = ast.unparse(value)
        return f"`{text}`" if len(text) <= 60 and value.lineno == value.end_lineno else "its input"

    # --- what else needs the activation ------------------------------------------------------------------------------

    def _is_needed(self, loss: _Loss, origin: Origin) -> bool:
        """Whether the file uses the probabilities for more than losses that expect none, and for more than their order."""
        return any(not self._is_indifferent(use, loss.expects) for use in self._other_uses(origin))

    def _other_uses(self, origin: Origin) -> Iterator[ast.expr]:
        """Where else the results of an activation are used: by the names they went through, by the calls that return them."""
        for binding in origin.names:
            yield from binding.uses
        for function in origin.functions:
            for call in self._calls(function):
                yield from self._uses_of_result(call, origin)

    def _uses_of_result(self, call: ast.Call, origin: Origin) -> Iterator[ast.expr]:
        """The uses of a call's result: those of the names it is assigned to, or the call itself."""
        statement = self.semantics.tree.parent(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            for target in statement.targets:
                for part in ast.walk(target):
                    binding = self.semantics.bindings.of(part)
                    found = self._activations.origin(call, _steps(binding)) if binding is not None else None
                    if binding is not None and found is not None and found.node is origin.node:
                        yield from binding.uses
            return
        yield call

    @cached_property
    def _forward_calls(self) -> dict[ast.AST, list[ast.Call]]:
        """The calls of the file's modules, by the ``forward`` that they run."""
        found: dict[ast.AST, list[ast.Call]] = {}
        for node in self.semantics.tree.nodes:
            if isinstance(node, ast.Call):
                kind = self.semantics.kind(node.func)
                if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef):
                    forward = self.semantics.facts.method(kind.definition, "forward")
                    if forward is not None:
                        found.setdefault(forward, []).append(node)
        return found

    def _calls(self, function: ast.AST) -> list[ast.Call]:
        named = self.semantics.inference.call_sites(function) if isinstance(function, FUNCTIONS) else []
        return [*named, *self._forward_calls.get(function, ())]

    def _is_indifferent(self, use: ast.expr, expects: str) -> bool:
        """Whether a use would rather have the logits, or would give the same for them: losses, and what looks at the order."""
        tree = self.semantics.tree
        parent = tree.parent(use)
        match parent:
            case ast.Attribute(attr=name):
                if name in _ORDERING:
                    return True
                outer = tree.parent(parent)
                if isinstance(outer, ast.Call) and outer.func is parent:
                    if name == "max":
                        return self._takes_index_only(outer)
                    return name in _PASSING and self._is_indifferent(outer, expects)
                return name in _PASSING and self._is_indifferent(parent, expects)
            case ast.Call(func=function) if function is not use:
                inner = self._loss(parent)
                if inner is not None and inner.value is use:
                    return inner.expects == expects
                name = self.semantics.qualified_name(function) or ""
                return name in _CHOOSING or (name == "torch.max" and self._takes_index_only(parent))
            case ast.Return() | ast.Tuple() | ast.Dict():
                around = tree.function(use)
                return isinstance(around, FUNCTIONS) and self._is_handed_on(around)
            case ast.Subscript(value=value):
                return value is use and self._is_indifferent(parent, expects)
            case ast.Assign(value=value) if value is use:
                return self._is_passed_name(parent, expects)
        return False

    def _is_handed_on(self, function: ast.AST) -> bool:
        """Whether a function's results are looked at by themselves: it is a forward that the file calls."""
        return bool(self._calls(function))

    def _is_passed_name(self, statement: ast.Assign, expects: str) -> bool:
        target = statement.targets[0]
        binding = self.semantics.bindings.of(target)
        return binding is not None and all(self._is_indifferent(use, expects) for use in binding.uses)

    def _takes_index_only(self, call: ast.Call) -> bool:
        """Whether of ``max`` along a dimension only the index is used: ``_, predicted = x.max(1)``."""
        match self.semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name() as first, _])]):
                binding = self.semantics.bindings.of(first)
                return binding is not None and not binding.uses
            case ast.Subscript(slice=ast.Constant(value=1)) | ast.Attribute(attr="indices"):
                return True
        return False

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, loss: _Loss, origin: Origin) -> Fix | None:
        if origin.output is Output.LOGITS:
            edits = self._loss_renamed(loss)
            return self.fix("Use the cross entropy of logits", edits, safe=False) if edits else None
        if origin.unique and not origin.stored and not self._is_needed(loss, origin):
            if loss.expects == "nothing":
                edits = self._activation_renamed(origin)
            else:
                edits = self._activation_removed(origin)
            if edits:
                return self.fix("Give the loss what it expects", edits, safe=False)
        return self._inverted(loss, origin)

    def _inverted(self, loss: _Loss, origin: Origin) -> Fix | None:
        """Gives the loss the logarithm of the probabilities, or the logits that a sigmoid was made of."""
        function = _INVERSES.get(origin.output)
        if function is None or (loss.expects, function) not in _INVERTIBLE:
            return None
        if function == "logit" and self.target < _HAS_LOGIT:
            return None
        torch, imports = self._rewriter.torch_name(loss.call)
        start, end = self.source.start(loss.value), self.source.end(loss.value)
        edits = [*imports, (start, start, f"{torch}.{function}("), (end, end, ")")]
        return self.fix(f"Give the loss `torch.{function}` of it", edits, safe=False)

    def _activation_removed(self, origin: Origin) -> list[TextEdit] | None:
        node, operand = origin.node, origin.operand
        if operand is None:
            return self._layer_removed(node)
        start, end = self.source.start(node), self.source.end(node)
        inner_start, inner_end = self.source.start(operand), self.source.end(operand)
        if "#" in self.source.text[start:inner_start] + self.source.text[inner_end:end]:
            return None
        is_operand = isinstance(self.semantics.tree.parent(node), (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Subscript))
        is_long = operand.end_lineno != operand.lineno
        if (is_operand or is_long) and not isinstance(operand, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            return [(start, inner_start, "("), (inner_end, end, ")")]
        return [(start, inner_start, ""), (inner_end, end, "")]

    def _layer_removed(self, layer: ast.Call) -> list[TextEdit] | None:
        """Takes the last layer out of the ``nn.Sequential`` that it is written in."""
        parent = self.semantics.tree.parent(layer)
        if not isinstance(parent, ast.Call) or layer not in parent.args or len(parent.args) < 2 or parent.args[-1] is not layer:
            return None
        before = self.source.end(parent.args[-2])
        end = self.source.end(layer)
        if "#" in self.source.text[before : self.source.start(layer)]:
            return None
        return [(before, end, "")]

    def _activation_renamed(self, origin: Origin) -> list[TextEdit] | None:
        """Makes ``softmax`` a ``log_softmax``."""
        function = origin.node.func
        if origin.output is not Output.SOFTMAX or not isinstance(function, ast.Attribute):
            return None
        is_torchs = (self.semantics.qualified_name(function) or "").startswith("torch.")
        if not is_torchs and function.value is not origin.operand:
            return None  # a layer of that name
        new = {"softmax": ".log_softmax", "Softmax": ".LogSoftmax"}.get(function.attr)
        return [self._rewriter.replace_attribute(function, new)] if new else None

    def _loss_renamed(self, loss: _Loss) -> list[TextEdit] | None:
        """Makes ``nll_loss`` a ``cross_entropy``, or an ``NLLLoss`` a ``CrossEntropyLoss`` where all its calls give logits."""
        function = loss.call.func
        if loss.name.endswith("nll_loss"):
            return (
                [self._rewriter.replace_attribute(function, ".cross_entropy")] if isinstance(function, ast.Attribute) else None
            )
        made = self._construction(function)
        if made is None or not isinstance(made.func, ast.Attribute) or made.func.attr != "NLLLoss":
            return None
        for node in self.semantics.tree.nodes:
            if isinstance(node, ast.Call) and node is not loss.call and (other := self._loss(node)) is not None:
                if self._construction(other.call.func) is made:
                    origin = self._activations.origin(other.value)
                    if origin is None or origin.output is not Output.LOGITS:
                        return None
        return [self._rewriter.replace_attribute(made.func, ".CrossEntropyLoss")]

    def _construction(self, function: ast.expr) -> ast.Call | None:
        """The one call that makes a loss object."""
        made = list(self._activations.constructions(function))
        return made[0] if len(made) == 1 and isinstance(made[0], ast.Call) else None


def _steps(binding: Binding) -> tuple[int | str, ...]:
    return tuple(step for step in binding.path if step is not None)
