from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Grad
from torchlint.semantics.autograd.leaves import MAY_RETURN_ITSELF, Operations

_READS = re.compile(rb"\.grad\b(?!\s*=(?![=\s}!:]))(?:(?<!autograd\.grad)|(?!\s*\())")
_MADE_A_LEAF = frozenset({"requires_grad_", "retain_grad", "detach_"})
_NONE_TESTS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


class NonleafGrad(AstRule):
    """
    ## What it does
    Finds `.grad` read of a tensor that an operation produced, `b = a * 2; b.sum().backward(); b.grad`, with no `retain_grad()`.

    ## Why is this bad
    The backward pass leaves gradients in the leaves of the graph only. `.grad` of any other tensor is `None`, and torch just
    warns. That holds for a leaf's copies, too: `x = torch.randn(3, requires_grad=True).cuda()` is none, and neither is `w[0]`,
    nor what `w = w - lr * w.grad` leaves for the next round.

    ## Example
    ```python
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    b.sum().backward()
    print(b.grad)
    ```

    ## Use instead
    ```python
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    b.retain_grad()
    b.sum().backward()
    print(b.grad)
    ```

    ## Fix safety
    Safe: `retain_grad()` is called before the backward pass, and changes nothing but `.grad`; `w[0].grad` becomes
    `w.grad[0]`. Unsafe where the file does not show a backward pass behind it, since then the tensor may have no graph, and
    where `w = w - lr * w.grad` becomes a change of `w` in place. There is no fix for `.grad` of an expression that has no name.

    ## References
    - [torch.Tensor.retain_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TPL010"
    name = "nonleaf-grad"
    screen = Screen(any_of=(b"backward",), pattern=_READS, names=frozenset({b".grad"}))

    @cached_property
    def _operations(self) -> Operations:
        return Operations(self.semantics)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _backwards(self) -> list[ast.Call]:
        calls = self.semantics.facts.calls
        return [*calls.get("backward", ()), *calls.get("manual_backward", ())]

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports a `.grad` that is always ``None``."""
        if node.attr != "grad" or not isinstance(node.ctx, ast.Load) or not self._backwards:
            return
        if self._operations.is_result(node.value):
            if not self._is_questioned(node):
                self._report_result(node)
        elif isinstance(node.value, ast.Name) and not self._is_questioned(node):
            self._consider_update(node, node.value)

    def _report_result(self, node: ast.Attribute) -> None:
        match node.value:
            case ast.Name() as name:
                self._report_name(node, name)
            case ast.Attribute() as attribute:
                self._report_attribute(node, attribute)
            case ast.Subscript() as item:
                self._report_item(node, item)
            case value if not isinstance(value, ast.Call) or not _makes_leaf(value):
                self.report(node, f"`{ast.unparse(value)}` is a new tensor here, and no leaf: its `.grad` is None")

    def _consider_update(self, node: ast.Attribute, name: ast.Name) -> None:
        """Reports `w.grad` where ``w`` is a leaf in a loop's first round only, for ``w = w - lr * w.grad`` makes a new one."""
        bindings = self.semantics.bindings.reaching(name)
        loops = list(self.semantics.tree.loops(node))
        updates = [
            binding
            for binding in bindings
            if any(self.semantics.tree.inside(binding.node, loop) for loop in loops) and self._is_update(binding)
        ]
        others = [binding for binding in bindings if binding not in updates]
        if not updates or not any(self._is_leaf(binding) for binding in others):
            return
        if any(self._is_made_leaf(use) for binding in self._made_by(bindings) for use in binding.uses):
            return
        update = self.semantics.tree.statement(updates[0].node)
        message = (
            f"`{name.id}` is a leaf in the first round only: line {update.lineno} makes a new tensor, whose `.grad` is None; "
            f"change `{name.id}` in place under `torch.no_grad()`"
        )
        self.report(node, message, self._update_in_place(update, name.id))

    def _is_update(self, binding: Binding) -> bool:
        """Whether a binding is that of ``w = w - x``, recorded by autograd."""
        match binding.value:
            case ast.BinOp(left=ast.Name(id=name)) as value if binding.form is Form.ASSIGNMENT and not binding.path:
                return name == binding.name and not self.semantics.no_grad.covers(value)
        return False

    def _is_leaf(self, binding: Binding) -> bool:
        return self.semantics.inference.binding_kind(binding).grad is Grad.LEAF

    # --- what is read ------------------------------------------------------------------------------------------------

    def _is_questioned(self, node: ast.Attribute) -> bool:
        """Whether ``None`` is reckoned with: the read is compared with it, or stands behind such a test."""
        if self._is_compared(node):
            return True
        text = ast.unparse(node)
        child: ast.AST = node
        for parent in self.semantics.tree.ancestors(node):
            match parent:
                case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if child is not test:
                    if text in ast.unparse(test):
                        return True
                case ast.BoolOp(values=[first, *_]) if child is not first and text in ast.unparse(first):
                    return True
            child = parent
        return False

    def _is_compared(self, node: ast.Attribute) -> bool:
        match self.semantics.tree.parent(node):
            case ast.Compare(ops=[operator], comparators=[ast.Constant(value=None)]):
                return isinstance(operator, _NONE_TESTS)
            case ast.Call(func=ast.Attribute(attr="assertIsNone")):
                return True
        return False

    def _report_name(self, node: ast.Attribute, name: ast.Name) -> None:
        bindings = self._made_by(self.semantics.bindings.reaching(name))
        if not any(self._is_made_leaf(use) for binding in bindings for use in binding.uses) and not self._is_retained_elsewhere(
            bindings
        ):
            self.report(node, _message(name.id, [binding.value for binding in bindings]), self._retain(node, name.id, bindings))

    def _made_by(self, bindings: tuple[Binding, ...]) -> list[Binding]:
        """The bindings, and those that augmented assignments among them add to."""
        found: list[Binding] = []
        pending = list(bindings)
        while pending:
            binding = pending.pop()
            if binding not in found:
                found.append(binding)
                pending.extend(binding.before)
        return found

    def _report_attribute(self, node: ast.Attribute, attribute: ast.Attribute) -> None:
        owner = self.semantics.facts.self_class(attribute.value)
        slots = self.semantics.facts.slots(owner, attribute.attr) if owner is not None else []
        uses = [use for slot in slots for use in slot.uses]
        if not slots or any(self._is_made_leaf(use) for use in uses):
            return
        stores = [self.semantics.tree.statement(store) for slot in slots for store in slot.stores]
        stores = [store for store in stores if not _stores_none(store)]
        text = ast.unparse(attribute)
        edit = self._behind(stores[0], f"{text}.retain_grad()") if len(stores) == 1 else None
        fix = self.fix(f"Call `{text}.retain_grad()`", [edit], safe=False) if edit else None
        self.report(node, _message(text, []), fix)

    def _report_item(self, node: ast.Attribute, item: ast.Subscript) -> None:
        whole = ast.unparse(item.value)
        edits = [self._rewriter.insert_behind(item.value, ".grad"), self._rewriter.drop_attribute(node)]
        message = f"`{ast.unparse(item)}` is a new tensor, and no leaf: its `.grad` is None; take the item of `{whole}.grad`"
        fix = None
        if "#" not in self.source.segment(node):
            fix = self.fix(f"Take the item of `{whole}.grad`", edits, safe=True)
        self.report(node, message, fix)

    def _is_made_leaf(self, use: ast.expr) -> bool:
        """Whether a use gives the tensor a `.grad` after all: `retain_grad()`, `requires_grad`, or a gradient assigned."""
        match self.semantics.tree.parent(use):
            case ast.Attribute(attr=name) if name in _MADE_A_LEAF:
                return True
            case ast.Attribute(attr="requires_grad" | "grad", ctx=ast.Store()):
                return True
        return False

    def _is_retained_elsewhere(self, bindings: list[Binding]) -> bool:
        """Whether the tensor may be among those that a loop or function calls `retain_grad` on."""
        collective = [call for call in self.semantics.facts.calls.get("retain_grad", ()) if not self._is_of_known(call)]
        if not collective:
            return False
        return any(
            isinstance(self.semantics.tree.parent(use), (ast.Tuple, ast.List, ast.Dict, ast.Call, ast.keyword, ast.Return))
            for binding in bindings
            for use in binding.uses
        )

    def _is_of_known(self, call: ast.Call) -> bool:
        """Whether `retain_grad` is called on a variable that was assigned itself."""
        match call.func:
            case ast.Attribute(value=ast.Name() as name):
                return all(binding.form is Form.ASSIGNMENT for binding in self.semantics.bindings.reaching(name))
        return False

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _retain(self, node: ast.Attribute, name: str, bindings: list[Binding]) -> Fix | None:
        """Calls `retain_grad` before the backward pass, or right behind each assignment."""
        statements = [self.semantics.tree.statement(binding.node) for binding in bindings if binding.form is not Form.AUGMENTED]
        call = f"{name}.retain_grad()"
        message = f"Call `{call}` before the backward pass"
        backward = self._backward_between(statements[0], node) if len(statements) == 1 else None
        if backward is not None and self._rewriter.stands_alone(backward):
            place = self.source.start(backward)
            edit = (place, place, f"{call}{self.source.newline}{self._rewriter.indentation(backward)}")
            return self.fix(message, [edit], safe=True)
        edits = [self._behind(statement, call) for statement in statements]
        if not edits or any(edit is None for edit in edits):
            return None
        safe = all(any(self._follows(statement, backward, node) for backward in self._backwards) for statement in statements)
        return self.fix(message, [edit for edit in edits if edit is not None], safe=safe)

    def _update_in_place(self, statement: ast.stmt, name: str) -> Fix | None:
        """Makes ``with torch.no_grad(): w -= lr * w.grad`` of ``w = w - lr * w.grad``."""
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.BinOp(left=ast.Name(id=left) as first, op=ast.Sub() | ast.Add() as operator, right=right),
            ) if target == left == name:
                sign = "-" if isinstance(operator, ast.Sub) else "+"
                between = self.source.text[self.source.end(first) : self.source.start(right)]
                wrapping = self._rewriter.wrap_in_no_grad([statement])
                if between.strip() != sign or wrapping is None:
                    return None
                edit = (self.source.start(statement) + len(name), self.source.start(right), f" {sign}= ")
                edits = [*wrapping, edit, *self._clear(statement, name)]
                return self.fix(f"Change `{name}` in place under `torch.no_grad()`", edits, safe=False)
        return None

    def _clear(self, statement: ast.stmt, name: str) -> list[tuple[int, int, str]]:
        """Takes the gradient away behind an update in place, as it was gone with the old tensor; if nothing clears it."""
        if any(ast.unparse(call.func) == f"{name}.grad.zero_" for call in self.semantics.facts.calls.get("zero_", ())):
            return []
        assert statement.end_lineno is not None
        end = self.source.line_span(statement.end_lineno)[1]
        indentation = self._rewriter.indentation(statement) + self._rewriter.indent_unit(statement)
        return [(end, end, f"{self.source.newline}{indentation}{name}.grad = None")]

    def _follows(self, statement: ast.stmt, backward: ast.Call, node: ast.Attribute) -> bool:
        flow = self.semantics.control_flow
        return flow.may_follow(statement, backward) and flow.may_follow(backward, node)

    def _backward_between(self, statement: ast.stmt, node: ast.Attribute) -> ast.stmt | None:
        """The first statement behind ``statement``, in its block, in which a backward pass runs before ``node`` is read."""
        block = self.semantics.tree.block(statement)
        for following in block[block.index(statement) + 1 :]:
            if any(
                self.semantics.tree.inside(call, following) and self._follows(statement, call, node) for call in self._backwards
            ):
                return following
        return None

    def _behind(self, statement: ast.stmt, call: str) -> tuple[int, int, str] | None:
        """Inserts a call behind an assignment, on a line of its own where that is possible."""
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return None
        end = self.source.end(statement)
        if not self._rewriter.stands_alone(statement):
            return (end, end, f"; {call}")
        assert statement.end_lineno is not None
        end = self.source.line_span(statement.end_lineno)[1]
        return (end, end, f"{self.source.newline}{self._rewriter.indentation(statement)}{call}")


def _message(text: str, values: list[ast.expr | None]) -> str:
    what = "the result of an operation"
    for value in values:
        match value:
            case ast.Call(func=ast.Attribute(attr=method)) if method in MAY_RETURN_ITSELF:
                what = f"a copy that `.{method}()` made"
    return f"`{text}` is {what} and no leaf: its `.grad` is None; call `{text}.retain_grad()` before the backward pass"


def _makes_leaf(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MADE_A_LEAF


def _stores_none(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
