"""The statements that compute with a value, in the function that it is made in."""

from __future__ import annotations

import ast
import builtins

from torchlint.semantics import Binding, Semantics, Type
from torchlint.semantics.apis.variable_wrappers import VARIABLE

_CUT = frozenset({"data", "shape", "size", "dim", "item", "detach", "numpy", "tolist", "numel", "is_cuda", "volatile", "grad"})
"""What gives no computation with the value: its plain numbers, or what it looks like."""
_PLAIN_CALLS = ("torch.", "numpy.", "math.", "os.", "time.", "torchvision.utils.")
"""Functions that have no parameters of their own, so that autograd has nothing to record where their input has none."""
_STORING = frozenset({"append", "extend", "add", "update", "format"})
_KEEPING = frozenset({"append", "appendleft", "extend", "insert"})
_GRAD_MODES = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled")


class Computations:
    """Follows values through the names of one function, to the statements in which autograd may record something."""

    def __init__(self, semantics: Semantics, function: ast.AST | None) -> None:
        self._semantics = semantics
        self._function = function
        self._seen: set[Binding] = set()
        self._found: set[ast.stmt] = set()

    @property
    def found(self) -> set[ast.stmt]:
        """The statements, less those in which grad mode has been decided on."""
        return {statement for statement in self._found if not self._is_under_grad_mode(statement)}

    def follow(self, value: ast.expr) -> None:
        """Follows a value from the place at which it stands to where it goes."""
        node: ast.AST = value
        for parent in self._semantics.tree.ancestors(value):
            match parent:
                case ast.Attribute(attr=name) if name in _CUT:
                    self._cut()
                    return
                case ast.Call(func=function) if node is not function and self._is_end(parent):
                    self._cut()
                    return
                case ast.Call(func=function) if node is not function and self._may_record(parent, node):
                    self._found.add(self._semantics.tree.statement(parent))
                case ast.Call(func=ast.Attribute(value=owner)) if node in parent.args and keeps(parent):
                    self._follow_kept(owner)
                case ast.Assign(targets=targets):
                    self._follow_stored(*targets)
                    return
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    self._follow_stored(target)
                    return
                case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated) if (
                    node is iterated
                ):
                    if self._semantics.kind(iterated).type is not Type.MAPPING:
                        self._follow_stored(target)  # of a dictionary, that is its keys
                    return
                case ast.stmt() | ast.Lambda() | ast.Yield():
                    self._leave(parent)
                    return
            node = parent

    def follow_behind(self, name: ast.Name) -> None:
        """Follows what a name stands for on the lines below it."""
        bindings = self._semantics.bindings.reaching(name)
        for node in self._semantics.tree.of_type(ast.Name):
            if node.id == name.id and node.lineno > name.lineno and self._semantics.tree.function(node) is self._function:
                if self._semantics.bindings.reaching(node) == bindings:
                    self.follow(node)

    def _may_record(self, call: ast.Call, given: ast.AST) -> bool:
        """Whether autograd may record something in a call that gets the value: that of a module, or of who knows what.

        ``given`` is the part of the call that the value is in.
        """
        name = self._semantics.qualified_name(call.func) or ""
        module, _, function = name.rpartition(".")
        if name == VARIABLE or name.startswith(_PLAIN_CALLS) or (module == "builtins" and hasattr(builtins, function)):
            return False
        if isinstance(call.func, ast.Attribute):
            kind = self._semantics.kind(call.func.value)
            is_plain = kind.is_tensor or kind.type in (Type.STRING, Type.SEQUENCE, Type.MAPPING)
            return call.func.attr not in _STORING and not is_plain
        return self._semantics.kind(call.func).type is not Type.CLASS

    def _is_end(self, call: ast.Call) -> bool:
        """Whether a value is followed no further than to a call that gets it."""
        return False

    def _cut(self) -> None:
        """Follows a value no further than to where its plain numbers, or its form, are read."""

    def _leave(self, end: ast.AST) -> None:
        """Follows a value no further than to a statement, or to what hands it on."""

    def _follow_stored(self, *targets: ast.expr) -> None:
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                binding = self._semantics.bindings.of(part)
                if binding is not None:
                    self.follow_uses(binding)

    def _follow_kept(self, owner: ast.expr) -> None:
        """Follows what a list is given to where that is used."""
        for binding in self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ():
            self.follow_uses(binding)

    def follow_uses(self, binding: Binding) -> None:
        """Follows what a name is given to where it is used in the function."""
        if binding in self._seen:
            return
        self._seen.add(binding)
        for use in binding.uses:
            if self._semantics.tree.function(use) is self._function:
                self.follow(use)

    def _is_under_grad_mode(self, statement: ast.stmt) -> bool:
        """Whether a ``with`` or a decorator around a statement says already what autograd does there."""
        if self._semantics.no_grad.block(statement):
            return True
        blocks = [parent for parent in self._semantics.tree.ancestors(statement) if isinstance(parent, ast.With)]
        contexts = [item.context_expr for block in blocks for item in block.items]
        calls = [context.func for context in contexts if isinstance(context, ast.Call)]
        return any(self._semantics.qualified_name(call) in _GRAD_MODES for call in calls)


def keeps(call: ast.Call) -> bool:
    """Whether a call puts what it is given into a list."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _KEEPING
