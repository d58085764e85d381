from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Kind, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.evidence import ModuleEvidence

_OWN_CALL = ("gpytorch.", "torchmetrics.", "botorch.", "pyro.contrib.gp.", "torch.fx.")
"""Packages whose modules have a ``__call__`` of their own, that does other things than ``forward``."""


_CALLED = re.compile(rb"\.forward\(")


_OF_BASE = re.compile(rb"[^\w.]?super\(\)")


def _may_call_forward(data: bytes) -> bool:
    """Whether the `forward` of something else than ``super()`` is called."""
    calls = (match.start() for match in _CALLED.finditer(data))
    return any(_OF_BASE.fullmatch(data[max(start - 8, 0) : start]) is None for start in calls)


class DirectForward(AstRule):
    """
    ## What it does
    Finds calls of a module's `forward` method: `model.forward(x)`, `nn.TripletMarginLoss(m).forward(a, p, n)`,
    `self.forward(x)`.

    ## Why is this bad
    `model(x)` runs the hooks that are registered on the module, and then `forward`; `model.forward(x)` leaves the hooks out.
    The features that a forward hook collects are missing, and so is what libraries do in hooks: `nn.utils.weight_norm` and
    `spectral_norm` compute the weight there, pruning applies its masks, and profilers and Grad-CAM look at activations.

    ## Example
    ```python
    model = nn.Linear(2, 2)
    y = model.forward(x)
    ```

    ## Use instead
    ```python
    model = nn.Linear(2, 2)
    y = model(x)
    ```

    ## Fix safety
    Unsafe: the hooks run now, which may change results.

    Not reported are `super().forward(x)`, calls within `__call__` or in `forward` itself and what it calls, and modules that
    have a `__call__` of their own or whose `forward` the file replaces.

    ## References
    - [torch.nn.Module.forward](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.forward)
    """

    code = "TPL302"
    name = "direct-forward"
    yields_to = ("TPL304",)
    screen = Screen(any_of=(b"forward",), check=_may_call_forward, names=frozenset({b".forward"}))

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a call of ``forward`` on a module."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "forward":
            return
        receiver = node.func.value
        kind = self.semantics.kind(receiver)
        if kind.type is not Type.MODULE and not (kind.type is Type.UNKNOWN and self._is_likely_module(receiver, node)):
            return
        if not self._is_plain_module(kind, node) or self._is_deliberate(node, receiver, kind):
            return
        text = ast.unparse(receiver) if receiver.lineno == receiver.end_lineno else "the module"
        shown = f"`{text}.forward(…)`" if text != "the module" else "`.forward(…)`"
        fix = self.fix("Call the module", [Rewriter(self.source, self.semantics).drop_attribute(node.func)], safe=False)
        self.report(node.func, f"{shown} runs without the module's hooks: call `{text}(…)`", fix)

    @cached_property
    def _classes(self) -> ModuleClasses:
        return ModuleClasses(self.semantics)

    @cached_property
    def _evidence(self) -> ModuleEvidence:
        return ModuleEvidence(self.semantics)

    def _is_likely_module(self, receiver: ast.expr, call: ast.Call) -> bool:
        """Whether what is not known is used as a module is; networks of OpenCV are given their input before ``forward()``."""
        return bool(call.args or call.keywords) and self._evidence.is_module(receiver)

    def _is_plain_module(self, kind: Kind, call: ast.Call) -> bool:
        """Whether calling a module does no more than run its hooks and its ``forward``, as far as can be seen."""
        definition = kind.definition
        if not isinstance(definition, ast.ClassDef):
            return bool(kind.name) or not self._is_in_framework(call)
        facts = self.semantics.facts
        if facts.method(definition, "__call__") is not None or not self._classes.is_sure(definition):
            return False
        names = [self.semantics.qualified_name(base) or "" for each in facts.bases(definition) for base in each.bases]
        return not any(name.startswith(_OWN_CALL) for name in names)

    def _is_in_framework(self, call: ast.Call) -> bool:
        """Whether a call stands in a module with a base from elsewhere, whose like may have a ``__call__`` of their own."""
        owner = self.semantics.tree.enclosing_class(call)
        return owner is not None and self.semantics.facts.is_module(owner) and not self._classes.has_known_bases(owner)

    def _is_deliberate(self, call: ast.Call, receiver: ast.expr, kind: Kind) -> bool:
        """Whether a call of ``forward`` is meant: in what a module's call itself runs, or where ``forward`` is replaced."""
        if self._replaces_forward or self._is_for_scripting(call):
            return True
        function = self._method_around(call)
        if function is None:
            return False
        if function.name == "__call__":
            return True
        return self.semantics.facts.self_class(receiver) is not None and function in self._run_by_forward(kind)

    def _is_for_scripting(self, call: ast.Call) -> bool:
        """Whether a call stands under ``if torch.jit.is_scripting():``."""
        return any(
            isinstance(parent, ast.If)
            and isinstance(parent.test, ast.Call)
            and self.semantics.qualified_name(parent.test.func) == "torch.jit.is_scripting"
            for parent in self.semantics.tree.ancestors(call)
        )

    def _method_around(self, node: ast.AST) -> Function | None:
        """The outermost function that ``node`` stands in, below its class."""
        found: Function | None = None
        for parent in self.semantics.tree.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                found = parent
            elif isinstance(parent, ast.ClassDef):
                break
        return found

    def _run_by_forward(self, kind: Kind) -> set[Function]:
        """The methods of a class that its ``forward`` runs, itself included."""
        facts = self.semantics.facts
        found: set[Function] = set()
        assert isinstance(kind.definition, ast.ClassDef)
        pending = [facts.method(kind.definition, "forward")]
        while pending:
            method = pending.pop()
            if method is None or method in found:
                continue
            found.add(method)
            for part in ast.walk(method):
                if isinstance(part, ast.Attribute) and facts.self_class(part.value) is not None:
                    pending.append(facts.method(kind.definition, part.attr))
        return found

    @cached_property
    def _replaces_forward(self) -> bool:
        """Whether the file gives something another ``forward``."""
        return any(
            isinstance(node, ast.Attribute) and node.attr == "forward" and not isinstance(node.ctx, ast.Load)
            for node in self.semantics.tree.nodes
        )
