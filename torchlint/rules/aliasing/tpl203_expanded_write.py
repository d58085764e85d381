from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import WRITES, Screen, is_about_torch
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Links

_WRITES = re.compile(WRITES + rb"|register_buffer|Parameter")
_METHODS = frozenset({"expand", "expand_as", "broadcast_to"})
_WRITTEN = {
    "register_buffer": "a buffer, which `load_state_dict` writes to",
    "Parameter": "a parameter, which an optimizer writes to",
}
_UNIFORM = frozenset({"zero_", "fill_"})
"""What gives all elements one value, whether they share their memory or not."""


class ExpandedWrite(AstRule):
    """
    ## What it does
    Finds in-place writes to what `expand`, `expand_as`, `broadcast_to` or `meshgrid` gave:
    `e = row.expand(3, 4)` and later `e[0, 0] = 1`, `e += 1`, `e[:, 1].zero_()`; and such a tensor made a module's buffer or
    parameter: `nn.Parameter(row.expand(3, 4))`.

    ## Why is this bad
    An expanded tensor has one row in memory and shows it several times. A write to one element changes it in every row,
    and in the tensor that was expanded; other writes raise a `RuntimeError`. A buffer or parameter made of one cannot be
    loaded, nor can an optimizer change it.

    ## Example
    ```python
    mask = torch.ones(1, 4).expand(3, 4)
    mask[0, 0] = 0  # all three rows change
    ```

    ## Use instead
    ```python
    mask = torch.ones(1, 4).expand(3, 4).clone()
    mask[0, 0] = 0  # all three rows change
    ```

    ## Fix safety
    Safe: the copy has memory for each of its elements, which is what the write needs.
    Where the statement writes to the expanded tensor and keeps nothing of it, there is no fix: what was meant to change
    cannot be told.

    ## References
    - [torch.Tensor.expand](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html)
    """

    code = "TPL203"
    name = "expanded-write"
    screen = Screen(
        any_of=(b"torch", b"nn"),
        check=is_about_torch,
        and_any_of=(b".expand(", b".expand_as(", b"broadcast_to(", b"meshgrid("),
        pattern=_WRITES,
        names=frozenset({b".expand", b".expand_as", b"broadcast_to", b"meshgrid"}),
    )

    def visit_Call(self, node: ast.Call) -> None:
        """Looks at what is written to the result of an expansion."""
        if self._is_expansion(node):
            self._report_writes(
                node, node.func.value if isinstance(node.func, ast.Attribute) and not self._name(node) else node.args[0]
            )
        elif self._name(node) == "torch.meshgrid":
            self._report_writes_to_parts(node)

    def _name(self, call: ast.Call) -> str:
        """The dotted name of a function of a library that is called."""
        name = self.semantics.qualified_name(call.func) or ""
        return "" if name.startswith("builtins.") else name

    def _is_expansion(self, call: ast.Call) -> bool:
        if self._name(call) == "torch.broadcast_to":
            return bool(call.args)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS or self._name(call):
            return False
        kind = self.semantics.kind(call.func.value)
        return bool(call.args) and kind.is_tensor and not kind.loose and not self._keeps_shape(call)

    def _keeps_shape(self, call: ast.Call) -> bool:
        """Whether all sizes that are asked for are 1 or those that the tensor has: nothing is shown twice."""
        sizes = call.args
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        return bool(sizes) and all(_is_one(size) for size in sizes)

    # --- writes ------------------------------------------------------------------------------------------------------

    def _report_writes(self, call: ast.Call, source: ast.expr) -> None:
        for change in self._changes(call):
            if not self._is_uniform(change, call):
                self.report(change.node, self._message(change, call, source), self._fix(call, change))
        kept = next(self._kept_as_weights(call), None)
        if kept is not None:
            end = self.source.end(call)
            shared = f"its rows are all the memory of `{ast.unparse(source)}`"
            message = f"`{ast.unparse(call)}` is made {_WRITTEN[kept]}, but {shared}; clone it first"
            self.report(call, message, self.fix("Clone what is expanded", [(end, end, ".clone()")], safe=True))

    def _kept_as_weights(self, call: ast.Call) -> Iterator[str]:
        """The names of the calls that make what is expanded a module's buffer or parameter."""
        value = self.semantics.of(Links).outermost(call)
        binding = self.semantics.of(Links).bound_to(value)
        for use in [value, *(binding.uses if binding is not None else ())]:
            match self.semantics.tree.parent(use):
                case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[_, tensor, *_], keywords=words) if (
                    tensor is use
                ):
                    if not any(word.arg == "persistent" for word in words):
                        yield "register_buffer"
                case ast.Call(func=function, args=[tensor, *_], keywords=words) if tensor is use:
                    if self.semantics.qualified_name(function) == "torch.nn.Parameter" and not words:
                        yield "Parameter"

    def _changes(self, value: ast.expr) -> Iterator[Change]:
        """The changes of an expression, and of the names and attributes it is assigned to."""
        changes = self.semantics.of(Changes)
        links = self.semantics.of(Links)
        if (change := changes.change(value)) is not None:
            yield change
        outermost = links.outermost(value)
        if (binding := links.bound_to(outermost)) is not None:
            yield from changes.changes_of(binding)
        match self.semantics.tree.parent(outermost):
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)]):
                definition = self.semantics.facts.self_class(owner)
                slots = self.semantics.facts.slots(definition, name) if definition is not None else []
                if sum(len(slot.stores) for slot in slots) == 1:
                    for use in (use for slot in slots for use in slot.uses):
                        if (change := changes.change(use)) is not None:
                            yield change

    def _is_uniform(self, change: Change, call: ast.Call) -> bool:
        """Whether a change gives the whole of what is expanded one value."""
        match change.node:
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method)):
                return method in _UNIFORM
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                return method in _UNIFORM and value is call
        return False

    def _report_writes_to_parts(self, call: ast.Call) -> None:
        """Reports the writes to the tensors that a call's result is unpacked into."""
        statement = self.semantics.tree.parent(call)
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if value is call:
                for target in targets:
                    binding = self.semantics.bindings.of(target) if isinstance(target, ast.Name) else None
                    for change in self.semantics.of(Changes).changes_of(binding) if binding is not None else ():
                        if not self._is_uniform(change, call):
                            fix = self.fix("Clone what is expanded", self._clone_each(call), safe=True)
                            self.report(change.node, self._message(change, call, None), fix)

    def _message(self, change: Change, call: ast.Call, source: ast.expr | None) -> str:
        written = ast.unparse(change.node.func if isinstance(change.node, ast.Call) else change.node)
        what = f"`{ast.unparse(source)}`" if source is not None else "its source"
        return f"`{written}` writes to `{ast.unparse(call)}`, whose rows are all the memory of {what}; clone it first"

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix(self, call: ast.Call, change: Change) -> Fix | None:
        """Clones the result of an expansion; not where nothing would be left of a write but a changed copy."""
        statement = self.semantics.tree.statement(call)
        if isinstance(statement, ast.Expr) and self.semantics.tree.inside(change.node, statement):
            return None
        end = self.source.end(call)
        return self.fix("Clone what is expanded", [(end, end, ".clone()")], safe=True)

    def _clone_each(self, call: ast.Call) -> list[TextEdit]:
        start, end = self.source.start(call), self.source.end(call)
        return [(start, start, f"({self._free_name}.clone() for {self._free_name} in "), (end, end, ")")]

    @cached_property
    def _free_name(self) -> str:
        """A name for the loop variable."""
        used = {node.id for node in self.semantics.tree.of_type(ast.Name)}
        return next(name for name in ("part", "each", "expanded", "part_") if name not in used or name == "part_")


def _is_one(size: ast.expr) -> bool:
    match size:
        case ast.Constant(value=1) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False
