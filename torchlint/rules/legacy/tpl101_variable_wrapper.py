from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TypeGuard

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.rewriting import Rewriter, TextEdit
from torchlint.semantics import Form, Grad

VARIABLE = "torch.autograd.Variable"
_TAKE_REQUIRES_GRAD = frozenset(
    f"torch.{name}"
    for name in (
        *("zeros", "ones", "rand", "randn", "empty", "full", "eye", "arange", "linspace", "logspace", "tensor"),
        *("zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like"),
    )
)
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.ListComp, ast.Dict, ast.Constant)
_ENCLOSING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.keyword, ast.Expr, ast.Dict, ast.List, ast.Call)


class VariableWrapper(Rule):
    """
    ## What it does
    Finds `torch.autograd.Variable`, under any name: calls, `type(h) == Variable`, `isinstance`, annotations, and the import
    that nothing uses any more.

    ## Why is this bad
    `Variable` and `Tensor` have been one class since torch 0.4. `Variable(y)` of a computed `y` silently cuts the graph:
    it has no `grad_fn`, and nothing behind it is trained. `type(h) == Variable` is always false now, so the branch behind
    it is dead.

    ## Example
    ```python
    images = Variable(images)
    w = Variable(torch.randn(3, 4), requires_grad=True)
    ```

    ## Use instead
    ```python
    w = torch.randn(3, 4, requires_grad=True)
    ```

    ## Fix safety
    Safe where the tensor is known to have no graph (made by a factory, taken from a loader, under `no_grad`), for
    `Variable(x.data)`, for `requires_grad=…`, for type tests and annotations. Unsafe otherwise: the graph that `Variable`
    cut is whole again, so gradients flow where they did not.

    ## References
    - [Migration guide for torch 0.4: merging Tensor and Variable](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL101"
    name = "variable-wrapper"
    screen = Screen(any_of=(b"Variable",))

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def visit_Name(self, node: ast.Name) -> None:
        """Reports a use of Variable by its name."""
        if isinstance(node.ctx, ast.Load):
            self._visit_use(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports a use of Variable as `autograd.Variable`."""
        if node.attr == "Variable":
            self._visit_use(node)

    def _visit_use(self, node: ast.Name | ast.Attribute) -> None:
        if self.semantics.qualified_name(node) != VARIABLE:
            return
        parent = self.semantics.tree.parent(node)
        match parent:
            case ast.Call(func=function) if function is node:
                self._report_call(parent)
            case ast.Attribute():
                return
            case ast.Compare():
                self._report_comparison(node, parent)
            case ast.ClassDef():
                return
            case _:
                self._report_reference(node)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _report_call(self, call: ast.Call) -> None:
        words = {word.arg: word.value for word in call.keywords}
        if "volatile" in words:
            return  # TPL103 says more
        data = call.args[0] if call.args else words.get("data")
        flag = call.args[1] if len(call.args) > 1 else words.get("requires_grad")
        if data is None or isinstance(data, ast.Starred) or None in words or len(call.args) > 2:
            self.report(call, "`Variable` has done nothing since torch 0.4: use the tensor itself")
            return
        text = ast.unparse(data) if data.lineno == data.end_lineno else "…"
        if flag is None or (isinstance(flag, ast.Constant) and not flag.value):
            self.report(call, self._message(data, text), self._unwrap(call, data))
        else:
            message = f"`Variable(…, requires_grad={ast.unparse(flag)})`: tensors take `requires_grad` themselves since torch 0.4"
            self.report(call, message, self._make_leaf(call, data, flag))

    def _message(self, data: ast.expr, text: str) -> str:
        if self.semantics.kind(data).carries_graph and not self.semantics.no_grad.covers(data):
            return f"`Variable({text})` silently cuts the graph behind `{text}`"
        if _is_data(data):
            return f"`Variable({text})`: detach the tensor instead, `{ast.unparse(data.value)}.detach()`"
        return f"`Variable({text})` is just `{text}` since torch 0.4"

    def _unwrap(self, call: ast.Call, data: ast.expr) -> Fix:
        start, end = self.source.start(call), self.source.end(call)
        inner_start, inner_end = self._inner_span(call, data)
        if _is_data(data):
            dot = self._rewriter.attribute_span(data)[0]
            edits: list[TextEdit] = [(start, inner_start, ""), (dot, end, ".detach()")]
            return self.fix(f"Use `{ast.unparse(data.value)}.detach()`", edits, safe=True)
        kind = self.semantics.kind(data)
        safe = (kind.is_tensor and kind.grad is Grad.NONE) or self.semantics.no_grad.block(call)
        if (statement := self._idle_assignment(call)) is not None:
            return self.fix("Remove the assignment of a name to itself", [self._rewriter.delete_statement(statement)], safe=safe)
        if self._needs_parentheses(call, data) and len(call.args) + len(call.keywords) == 1 and call.args:
            return self.fix("Use the tensor itself", [(start, self.source.end(call.func), "")], safe=safe)
        opening, closing = ("(", ")") if self._needs_parentheses(call, data) else ("", "")
        return self.fix("Use the tensor itself", [(start, inner_start, opening), (inner_end, end, closing)], safe=safe)

    def _inner_span(self, call: ast.Call, data: ast.expr) -> tuple[int, int]:
        if call.args:
            return self._rewriter.argument_span(call, data)
        return self.source.start(data), self.source.end(data)

    def _needs_parentheses(self, call: ast.Call, data: ast.expr) -> bool:
        segment = self.source.segment(data)
        if self._inner_span(call, data) != (self.source.start(data), self.source.end(data)):
            return False  # it has its own
        between = self.source.text[self.source.end(call.func) : self.source.start(data)]
        if "#" in between or "#" in self.source.text[self.source.end(data) : self.source.end(call)]:
            return True
        if not _parses_alone(segment):
            return True
        if isinstance(data, _ATOMS):
            return False
        return not isinstance(self.semantics.tree.parent(call), _ENCLOSING)

    def _idle_assignment(self, call: ast.Call) -> ast.Assign | None:
        """The statement around ``x = Variable(x)`` or ``x, y = Variable(x), Variable(y)``: nothing is left of it."""
        statement = self.semantics.tree.statement(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        start, end = self.source.start(statement), self.source.line_span(statement.end_lineno or statement.lineno)[1]
        if "#" in self.source.text[start:end]:
            return None
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts)) if len(target.elts) == len(value.elts) else []
        else:
            pairs = [(target, value)]
        return statement if pairs and all(self._is_idle(target, value) for target, value in pairs) else None

    def _is_idle(self, target: ast.expr, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=function, args=[data], keywords=[]) if self.semantics.qualified_name(function) == VARIABLE:
                return isinstance(target, (ast.Name, ast.Attribute)) and ast.unparse(target) == ast.unparse(data)
        return False

    def _make_leaf(self, call: ast.Call, data: ast.expr, flag: ast.expr) -> Fix:
        start, end = self.source.start(call), self.source.end(call)
        inner_start, inner_end = self._inner_span(call, data)
        on = isinstance(flag, ast.Constant) and flag.value is True
        flag_text = self.source.segment(flag)
        if isinstance(data, ast.Call) and self._is_factory(data):
            closing = self.source.end(data) - 1
            inside = self.source.text[:closing].rstrip()
            comma = "" if inside.endswith(("(", ",")) else ", "
            comma = " " if inside.endswith(",") else comma
            edits: list[TextEdit] = [(start, inner_start, ""), (len(inside), closing, f"{comma}requires_grad={flag_text}"), (inner_end, end, "")]
            return self.fix("Give `requires_grad` to the factory", edits, safe=True)
        becomes = f".requires_grad_({'' if on else flag_text})"
        if _is_data(data):
            dot = self._rewriter.attribute_span(data)[0]
            return self.fix("Make the detached tensor a leaf", [(start, inner_start, ""), (dot, end, f".detach(){becomes}")], safe=True)
        fresh = isinstance(data, ast.Call) and self.semantics.kind(data).grad is Grad.NONE and not isinstance(data.func, ast.Attribute)
        if not fresh:
            becomes = f".detach(){becomes}"
        opening, closing_text = ("", becomes)
        if not isinstance(data, _ATOMS) or not _parses_alone(self.source.segment(data)):
            opening, closing_text = ("(", ")" + becomes)
        if (inner_start, inner_end) != (self.source.start(data), self.source.end(data)):
            opening, closing_text = ("", becomes)
        return self.fix("Make the tensor a leaf", [(start, inner_start, opening), (inner_end, end, closing_text)], safe=True)

    def _is_factory(self, data: ast.Call) -> bool:
        if self.semantics.qualified_name(data.func) not in _TAKE_REQUIRES_GRAD:
            return False
        return not any(word.arg in ("requires_grad", None) for word in data.keywords)

    # --- everything else ---------------------------------------------------------------------------------------------

    def _report_comparison(self, node: ast.expr, comparison: ast.Compare) -> None:
        message = "`type(…)` of a tensor is never `Variable`: it is `torch.Tensor`"
        match comparison:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[value], keywords=[]), ops=[operator], comparators=[_]
            ) if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
                torch, imports = self._rewriter.torch_name(node)
                negated = "not " if isinstance(operator, (ast.NotEq, ast.IsNot)) else ""
                text = f"{negated}isinstance({self.source.segment(value)}, {torch}.Tensor)"
                edit = (self.source.start(comparison), self.source.end(comparison), text)
                self.report(comparison, message, self.fix(f"Use `{text}`", [edit, *imports], safe=True))
            case _:
                self.report(comparison, message)

    def _report_reference(self, node: ast.Name | ast.Attribute) -> None:
        if self._is_type(node):
            torch, imports = self._rewriter.torch_name(node)
            edit = (self.source.start(node), self.source.end(node), f"{torch}.Tensor")
            fix = self.fix("Use `torch.Tensor`", [edit, *imports], safe=True)
            self.report(node, "`Variable` is `torch.Tensor` since torch 0.4", fix)
        else:
            self.report(node, "`Variable` has done nothing since torch 0.4: use the tensor itself")

    def _is_type(self, node: ast.expr) -> bool:
        """Whether a class is wanted here: an annotation, or the second argument of ``isinstance``."""
        child: ast.AST = node
        for parent in self.semantics.tree.ancestors(node):
            match parent:
                case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation) if annotation is child:
                    return True
                case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if returns is child:
                    return True
                case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]) if classes is child:
                    return True
                case ast.Tuple() | ast.Subscript() | ast.BinOp() | ast.List() | ast.Attribute():
                    child = parent
                case _:
                    return False
        return False

    def visit_alias(self, node: ast.alias) -> None:
        """Reports an import of Variable that nothing uses."""
        statement = self.semantics.tree.parent(node)
        if not (isinstance(statement, ast.ImportFrom) and node.name == "Variable" and self._is_unused(node)):
            return
        fix = self.fix("Remove the import", [self._rewriter.delete_alias(statement, node)], safe=True)
        self.report(node, "`Variable` is imported and not used: it is `torch.Tensor` since torch 0.4", fix)

    def _is_unused(self, alias: ast.alias) -> bool:
        binding = self.semantics.bindings.of(alias)
        if binding is None or binding.form is not Form.IMPORT or binding.imported not in (VARIABLE, "torch.autograd.variable.Variable"):
            return False
        if binding.uses or self.source.filename.endswith("__init__.py"):
            return False
        return not re.search(rf"""['"#].*\b{binding.name}\b""", self._text_without_imports)

    @cached_property
    def _text_without_imports(self) -> str:
        """The strings that name something and the type comments of the file: what may use an import unseen."""
        strings = [
            repr(node.value) for node in self.semantics.tree.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80
        ]
        comments = re.findall(r"#\s*type:.*", self.source.text)
        return "\n".join(strings + comments)


def _is_data(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _parses_alone(text: str) -> bool:
    """Whether an expression's text is one without parentheses around it: a line break may forbid it."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
