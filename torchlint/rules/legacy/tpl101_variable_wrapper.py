from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit, parses_alone
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.rules.unwrapping import Unwrapper, is_data
from torchlint.semantics import Binding, Form, Grad, Type
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.tree import FUNCTIONS, dotted
from torchlint.target import TorchVersion

VARIABLE = "torch.autograd.Variable"
_TAKE_REQUIRES_GRAD = frozenset(
    f"torch.{name}"
    for name in (
        *(
            "zeros",
            "ones",
            "rand",
            "randn",
            "randint",
            "normal",
            "empty",
            "full",
            "eye",
            "arange",
            "linspace",
            "logspace",
            "tensor",
        ),
        *("zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like"),
    )
)
_MAY_RETURN_ARGUMENT = frozenset(
    {VARIABLE}
    | {f"torch.{name}" for name in ("as_tensor", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "conj", "flatten")}
    | {f"torch.{name}" for name in ("positive", "real", "resolve_conj", "resolve_neg")}
)
"""What may give its argument back: each of these does, of some tensor (ran)."""
_DETACHES = re.compile(r"detach|repackage", re.IGNORECASE)
_PRAGMA = re.compile(r"#\s*(noqa|type:|pylint|fmt|isort)")
_FOR_OTHERS = re.compile(r"#\s*noqa:.*F401", re.IGNORECASE)
"""Behind an import that a module makes for those that import it."""
_SOME, _MANY = 3, 9
"""How many other unused imports make a file one that exists for its imports: if it defines nothing, and if it does."""
_DEAD = "`Variable` has done nothing since torch 0.4: use the tensor itself"
_UNUSED = "`Variable` is imported and not used: it is `torch.Tensor` since torch 0.4"


@dataclass(frozen=True, eq=False, slots=True)
class _Wrapping:
    """A call of Variable: what it wraps, and ``requires_grad`` as it is given."""

    call: ast.Call
    data: ast.expr
    flag: ast.expr | None

    @property
    def is_leaf(self) -> bool:
        """Whether ``requires_grad`` is, or may be, true."""
        return self.flag is not None and not (isinstance(self.flag, ast.Constant) and not self.flag.value)


class VariableWrapper(AstRule):
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
    since = TorchVersion(0, 4)
    screen = Screen(any_of=(b"Variable",))
    yields_to = ("TPL007",)

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _unwrapper(self) -> Unwrapper:
        return Unwrapper(self.source, self.semantics, self._rewriter)

    def visit_Name(self, node: ast.Name) -> None:
        """Reports a use of Variable by its name."""
        if isinstance(node.ctx, ast.Load):
            self._visit_use(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports a use of Variable as `autograd.Variable`."""
        if node.attr == "Variable":
            self._visit_use(node)

    def _visit_use(self, node: ast.Name | ast.Attribute) -> None:
        if not self._is_variable(node):
            return
        match self.semantics.tree.parent(node):
            case ast.Call(func=function) as call if function is node:
                self._report_call(call)
            case ast.Attribute() | ast.ClassDef():
                return  # Variable._execution_engine, class MyVariable(Variable)
            case ast.Compare() as comparison:
                self._report_comparison(node, comparison)
            case ast.Assign(targets=[ast.Name() as alias]) as statement:
                self._report_alias(node, alias, statement)
            case ast.Call(func=ast.Name(id="map"), args=[function, _]) if function is node:
                self._report_map(node)
            case _:
                self._report_reference(node)

    def _is_variable(self, node: ast.expr) -> bool:
        return self.semantics.qualified_name(node) == VARIABLE

    # --- calls -------------------------------------------------------------------------------------------------------

    def _report_call(self, call: ast.Call) -> None:
        if len(call.args) == 3 or any(word.arg == "volatile" for word in call.keywords):
            return  # TPL103 says more
        wrapping = _wrapping(call)
        if wrapping is None:
            self.report(call, _DEAD)
        elif wrapping.is_leaf:
            assert wrapping.flag is not None
            flag = ast.unparse(wrapping.flag)
            message = f"`Variable(…, requires_grad={flag})`: tensors take `requires_grad` themselves since torch 0.4"
            self.report(call, message, self._make_leaf(wrapping, wrapping.flag))
        else:
            self.report(call, self._message(wrapping.data), self._unwrap(wrapping))

    def _message(self, data: ast.expr) -> str:
        text = ast.unparse(data) if data.lineno == data.end_lineno else "…"
        if self._is_no_tensor(data):
            return f"`Variable({text})` raises a TypeError since torch 0.4: `{text}` is no tensor"
        if self.semantics.kind(data).carries_graph and not self.semantics.no_grad.covers(data):
            return f"`Variable({text})` silently cuts the graph behind `{text}`"
        if is_data(data):
            return f"`Variable({text})`: detach the tensor instead, `{ast.unparse(data.value)}.detach()`"
        return f"`Variable({text})` is just `{text}` since torch 0.4"

    def _unwrap(self, wrapping: _Wrapping) -> Fix | None:
        data = wrapping.data
        if is_data(data):
            return self._leave(wrapping, ".detach()", f"Use `{ast.unparse(data.value)}.detach()`", safe=True)
        if self._is_no_tensor(data):
            return self._convert(wrapping)
        if self._detaches_on_purpose(wrapping):
            return self._leave(wrapping, ".detach()", "Detach the tensor", safe=True)
        if (statement := self._idle_statement(wrapping.call)) is not None:
            return self._remove(statement)
        return self._leave(wrapping, "", "Use the tensor itself", safe=self._has_no_graph(data))

    def _has_no_graph(self, data: ast.expr) -> bool:
        kind = self.semantics.kind(data)
        if kind.is_tensor and kind.grad is not Grad.UNKNOWN:
            return kind.grad is Grad.NONE
        return self.semantics.no_grad.block(data)

    def _is_no_tensor(self, data: ast.expr) -> bool:
        return self.semantics.kind(data).type in (Type.ARRAY, Type.NUMBER, Type.SEQUENCE)

    def _convert(self, wrapping: _Wrapping) -> Fix | None:
        """What is no tensor was never wrapped but refused: it becomes one."""
        if len(wrapping.call.args) != 1 or wrapping.call.keywords:
            return None
        torch, imports = self._rewriter.torch_name(wrapping.call)
        function = wrapping.call.func
        edit = (self.source.start(function), self.source.end(function), f"{torch}.as_tensor")
        return self.fix("Use `torch.as_tensor`", [edit, *imports], safe=False)

    def _detaches_on_purpose(self, wrapping: _Wrapping) -> bool:
        """Whether the graph was cut because it had to be: ``requires_grad=False``, a kept value, `repackage_hidden`."""
        function = self.semantics.tree.function(wrapping.call)
        if isinstance(function, FUNCTIONS) and _DETACHES.search(function.name):
            return not isinstance(wrapping.data, ast.Call)
        if self.semantics.kind(wrapping.data).grad not in (Grad.GRAPH, Grad.LEAF):
            return False
        return wrapping.flag is not None or self._is_kept(wrapping.call)

    def _is_kept(self, call: ast.Call) -> bool:
        """Whether the value is stored as an attribute, right away or under a name first."""
        statement = self.semantics.tree.parent(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        if isinstance(statement.targets[0], ast.Attribute):
            return True
        binding = self.semantics.bindings.of(statement.targets[0])
        users = [self.semantics.tree.parent(use) for use in binding.uses] if binding is not None else []
        return any(isinstance(user, ast.Assign) and isinstance(user.targets[0], ast.Attribute) for user in users)

    def _make_leaf(self, wrapping: _Wrapping, flag: ast.expr) -> Fix | None:
        data, text = wrapping.data, self.source.segment(flag)
        if self._is_no_tensor(data):
            return None
        if isinstance(data, ast.Call) and self._takes_requires_grad(data):
            unwrapped = self._unwrapper.unwrap(wrapping.call, data)
            keyword = self._last_argument(data, f"requires_grad={text}")
            return self.fix("Give `requires_grad` to the factory", [*unwrapped, keyword], safe=True) if unwrapped else None
        suffix = ".requires_grad_()" if isinstance(flag, ast.Constant) and flag.value is True else f".requires_grad_({text})"
        if not self._is_fresh(data):
            suffix = f".detach(){suffix}"
        return self._leave(wrapping, suffix, "Make the tensor a leaf", safe=True)

    def _takes_requires_grad(self, data: ast.Call) -> bool:
        if self.semantics.qualified_name(data.func) not in _TAKE_REQUIRES_GRAD:
            return False
        if any(word.arg in ("requires_grad", "out", None) for word in data.keywords):
            return False
        return "#" not in self.source.segment(data)

    def _last_argument(self, call: ast.Call, argument: str) -> TextEdit:
        """Adds an argument behind the others of a call."""
        closing = self.source.end(call) - 1
        place = len(self.source.text[:closing].rstrip())
        comma = {"(": "", ",": " "}.get(self.source.text[place - 1], ", ")
        one_line = not self.source.text[place:closing].strip(" ")
        return (place, closing if one_line else place, comma + argument)

    def _is_fresh(self, data: ast.expr) -> bool:
        """Whether the tensor is made here and now, by a chain of calls on a function of torch: nothing else refers to it."""
        if self.semantics.kind(data).grad is not Grad.NONE:
            return False
        while isinstance(data, ast.Call):
            name = self.semantics.qualified_name(data.func) or ""
            if name.startswith("torch."):
                return name not in _MAY_RETURN_ARGUMENT
            if not isinstance(data.func, ast.Attribute):
                return False
            data = data.func.value
        return False

    def _leave(self, wrapping: _Wrapping, suffix: str, message: str, *, safe: bool) -> Fix | None:
        """The fix that leaves the wrapped expression with ``suffix`` behind it."""
        edits = self._unwrapper.unwrap(wrapping.call, wrapping.data, suffix)
        return self.fix(message, edits, safe=safe) if edits is not None else None

    # --- assignments of a name to itself -----------------------------------------------------------------------------

    def _idle_statement(self, call: ast.Call) -> ast.Assign | None:
        statement = self.semantics.tree.statement(call)
        return statement if isinstance(statement, ast.Assign) and self._is_idle(statement) else None

    def _is_idle(self, statement: ast.stmt) -> bool:
        """Whether nothing is left of a statement without Variable: ``x = Variable(x)``, ``x, y = Variable(x), Variable(y)``."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        calls = list(self._idle_calls(statement.targets[0], statement.value))
        return bool(calls) and not any(call is None or self.suppressions.covers(self.code, call.lineno) for call in calls)

    def _idle_calls(self, target: ast.expr, value: ast.expr) -> Iterator[ast.Call | None]:
        """The calls of Variable that give each target itself; ``None`` for what is something else."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for pair in zip(target.elts, value.elts):
                yield from self._idle_calls(*pair)
            return
        if dotted(target) is not None and dotted(target) == dotted(value):
            return  # unwrapped before
        wrapping = _wrapping(value) if isinstance(value, ast.Call) and self._is_variable(value.func) else None
        idle = wrapping is not None and not wrapping.is_leaf and not self._detaches_on_purpose(wrapping)
        same = (
            wrapping is not None and isinstance(target, (ast.Name, ast.Attribute)) and dotted(target) == dotted(wrapping.data)
        )
        yield wrapping.call if wrapping is not None and idle and same and dotted(target) else None

    def _remove(self, statement: ast.Assign) -> Fix:
        """Removes an idle statement; with all of its block, if that is idle: then every finding there carries the same fix."""
        block = self.semantics.tree.block(statement)
        idle = [other for other in block if self._is_idle(other)]
        parent = self.semantics.tree.parent(statement)
        if len(idle) < len(block) or isinstance(parent, ast.Module):
            return self.fix(
                "Remove the assignment of a name to itself", [self._delete(statement)], safe=self._is_safe(statement)
            )
        safe = all(self._is_safe(other) for other in idle)
        if isinstance(parent, ast.If) and self._is_idle_branch(parent, block):
            return self.fix("Remove the assignments to themselves", [self._rewriter.delete_statement(parent)], safe=safe)
        first = (self.source.start(block[0]), self.source.end(block[0]), "pass")
        return self.fix("Remove the assignments to themselves", [first, *map(self._delete, block[1:])], safe=safe)

    def _is_safe(self, statement: ast.stmt) -> bool:
        assert isinstance(statement, ast.Assign)
        calls = self._idle_calls(statement.targets[0], statement.value)
        return all(
            self._has_no_graph(call.args[0] if call.args else call.keywords[0].value) for call in calls if call is not None
        )

    def _delete(self, statement: ast.stmt) -> TextEdit:
        """Deletes a statement; a comment behind it keeps its line."""
        start, end = self.source.start(statement), self.source.end(statement)
        rest = self.source.text[end : self.source.line_span(self.source.location(end).row)[1]]
        comment = rest.lstrip()
        if comment.startswith("#") and not _PRAGMA.match(comment) and self._rewriter.stands_alone(statement):
            return (start, end + len(rest) - len(comment), "")
        return self._rewriter.delete_statement(statement)

    def _is_idle_branch(self, statement: ast.If, block: list[ast.stmt]) -> bool:
        """Whether an ``if`` whose body goes can go with it: no else, nothing but a look at a value, no comment."""
        if (
            statement.orelse
            or block is not statement.body
            or not self.source.text.startswith("if", self.source.start(statement))
        ):
            return False
        if "#" in self.source.segment(statement) or not self._rewriter.stands_alone(statement):
            return False
        calls = [part for part in ast.walk(statement.test) if isinstance(part, (ast.Call, ast.NamedExpr, ast.Await))]
        return all(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance" for call in calls
        )

    # --- classes -----------------------------------------------------------------------------------------------------

    def _report_comparison(self, node: ast.expr, comparison: ast.Compare) -> None:
        message = "`type(…)` of a tensor is never `Variable`: it is `torch.Tensor`"
        if len(comparison.ops) > 1 or not isinstance(comparison.ops[0], (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            self.report(comparison, message)
            return
        other = comparison.comparators[0] if comparison.left is node else comparison.left
        torch, imports = self._rewriter.torch_name(node)
        match other:
            case ast.Call(func=ast.Name(id="type"), args=[value], keywords=[]):
                negated = "not " if isinstance(comparison.ops[0], (ast.NotEq, ast.IsNot)) else ""
                text = f"{negated}isinstance({self.source.segment(value)}, {torch}.Tensor)"
                edit = (self.source.start(comparison), self.source.end(comparison), text)
                self.report(comparison, message, self.fix(f"Use `{text}`", [edit, *imports], safe=True))
            case _:
                edit = (self.source.start(node), self.source.end(node), f"{torch}.Tensor")
                self.report(comparison, message, self.fix("Use `torch.Tensor`", [edit, *imports], safe=True))

    def _report_reference(self, node: ast.Name | ast.Attribute) -> None:
        torch, imports = self._rewriter.torch_name(node)
        parent = self.semantics.tree.parent(node)
        message = "`Variable` is `torch.Tensor` since torch 0.4"
        edit = (self.source.start(node), self.source.end(node), f"{torch}.Tensor")
        if isinstance(parent, ast.Tuple):
            edit = self._without_doubles(parent, torch) or edit
        if self._is_type(node):
            self.report(node, message, self.fix("Use `torch.Tensor`", [edit, *imports], safe=True))
        elif isinstance(parent, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            self.report(node, message, self.fix("Use `torch.Tensor`", [edit, *imports], safe=False))
        else:
            self.report(node, _DEAD)

    def _without_doubles(self, classes: ast.Tuple, torch: str) -> TextEdit | None:
        """Replaces a tuple of classes for ``isinstance`` or ``Union`` in which Variable would double the tensor."""
        parent = self.semantics.tree.parent(classes)
        names = [self.semantics.qualified_name(element) for element in classes.elts]
        if sum(name in ("torch.Tensor", VARIABLE) for name in names) < 2:
            return None
        kept = [f"{torch}.Tensor" if name == VARIABLE else self.source.segment(part) for name, part in zip(names, classes.elts)]
        text = ", ".join(dict.fromkeys(kept))
        if isinstance(parent, ast.Subscript) and (dotted(parent.value) or "").split(".")[-1] == "Union":
            whole = parent if "," not in text else classes
            return (self.source.start(whole), self.source.end(whole), text)
        if not _tests_class(parent):
            return None
        return (self.source.start(classes), self.source.end(classes), f"({text})" if "," in text else text)

    def _is_type(self, node: ast.expr) -> bool:
        """Whether a class is wanted here: an annotation, ``isinstance``, a comparison with ``type(…)``."""
        child: ast.AST = node
        for parent in self.semantics.tree.ancestors(node):
            match parent:
                case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation) if annotation is child:
                    return True
                case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if returns is child:
                    return True
                case ast.Call(args=[_, classes]) if classes is child and _tests_class(parent):
                    return True
                case ast.Compare(left=other) | ast.Call(args=[other, *_]) if other is not child:
                    return isinstance(other, ast.Call) and isinstance(other.func, ast.Name) and other.func.id == "type"
                case ast.Tuple() | ast.Subscript() | ast.BinOp() | ast.List() | ast.Set() | ast.Attribute():
                    child = parent
                case _:
                    return False
        return False

    def visit_Constant(self, node: ast.Constant) -> None:
        """Reports Variable in an annotation that is a string."""
        if not (isinstance(node.value, str) and "Variable" in node.value and self._is_type(node)):
            return
        literal = self.source.segment(node)
        if literal[1:-1] != node.value:
            return
        torch, imports = self._rewriter.torch_name(node)
        edits: list[TextEdit] = []
        for name in self._names_in(node):
            start = self.source.start(node) + 1 + name.col_offset
            edits.append((start, start + (name.end_col_offset or 0) - name.col_offset, f"{torch}.Tensor"))
        if edits:
            self.report(
                node,
                "`Variable` is `torch.Tensor` since torch 0.4",
                self.fix("Use `torch.Tensor`", [*edits, *imports], safe=True),
            )

    def _names_in(self, annotation: ast.Constant) -> list[ast.expr]:
        """The parts of an annotation in a string that refer to Variable."""
        try:
            parsed = ast.parse(str(annotation.value), mode="eval")
        except SyntaxError:
            return []
        scope = self.semantics.bindings.scope_of(annotation)
        found: list[ast.expr] = []
        for part in ast.walk(parsed):
            name = dotted(part) if isinstance(part, (ast.Name, ast.Attribute)) else None
            if name and (name == "Variable" or name.endswith(".Variable") or isinstance(part, ast.Name)):
                first, _, rest = name.partition(".")
                bindings = self.semantics.bindings.lookup(first, scope)
                targets = {canonical(".".join(filter(None, (binding.imported, rest)))) for binding in bindings}
                if targets == {VARIABLE} and isinstance(part, ast.expr):
                    found.append(part)
        return found

    # --- functions and names -----------------------------------------------------------------------------------------

    def _report_map(self, node: ast.expr) -> None:
        torch, imports = self._rewriter.torch_name(node)
        edit = (self.source.start(node), self.source.end(node), f"{torch}.Tensor.detach")
        self.report(node, _DEAD, self.fix("Use `torch.Tensor.detach`, which does the same", [edit, *imports], safe=True))

    def _report_alias(self, node: ast.expr, alias: ast.Name, statement: ast.Assign) -> None:
        """Reports ``V = autograd.Variable`` once nothing uses it: its uses are reported themselves."""
        binding = self.semantics.bindings.of(alias)
        if binding is not None and not binding.uses and not self._is_named_in_text(binding):
            fix = self.fix("Remove the name", [self._rewriter.delete_statement(statement)], safe=True)
            self.report(node, f"`{alias.id}` is not used, and `Variable` is `torch.Tensor` since torch 0.4", fix)

    def visit_alias(self, node: ast.alias) -> None:
        """Reports an import of Variable that nothing uses."""
        statement = self.semantics.tree.parent(node)
        if not (isinstance(statement, ast.ImportFrom) and node.name == "Variable" and self._is_unused(node)):
            return
        if isinstance(self.semantics.tree.parent(statement), (ast.Try, ast.ExceptHandler)) or self._is_import_hub:
            return
        if _FOR_OTHERS.search(self.source.line(node.lineno)):
            return
        self.report(node, _UNUSED, self.fix("Remove the import", [self._rewriter.delete_alias(statement, node)], safe=True))

    def _is_unused(self, alias: ast.alias) -> bool:
        binding = self.semantics.bindings.of(alias)
        if binding is None or binding.form is not Form.IMPORT or canonical(binding.imported) != VARIABLE:
            return False
        if binding.uses or self.source.filename.endswith("__init__.py"):
            return False
        return not self._is_named_in_text(binding)

    @cached_property
    def _is_import_hub(self) -> bool:
        """Whether the file imports more than it uses: a module that others import everything from."""
        every = [binding for found in self.semantics.bindings.module.bindings.values() for binding in found]
        imports = [binding for binding in every if binding.form is Form.IMPORT and canonical(binding.imported) != VARIABLE]
        unused = [binding for binding in imports if not binding.uses]
        defines = any(binding.form in (Form.FUNCTION, Form.CLASS) for binding in every)
        return len(unused) > (_MANY if defines else _SOME) and len(unused) > len(imports) / 2

    def _is_named_in_text(self, binding: Binding) -> bool:
        """Whether strings that are code, such as those of ``__all__``, or type comments name it."""
        return re.search(rf"\b{binding.name}\b", self._code_in_text) is not None

    @cached_property
    def _code_in_text(self) -> str:
        strings = {
            node.value for node in self.semantics.tree.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        comments = re.findall(r"#\s*type:.*", self.source.text)
        return "\n".join([*(text for text in strings if "Variable" in text and parses_alone(text)), *comments])


def _wrapping(call: ast.Call) -> _Wrapping | None:
    """What a call of Variable says; ``None`` where its arguments are not written out."""
    words = {word.arg: word.value for word in call.keywords}
    data = call.args[0] if call.args else words.pop("data", None)
    flag = call.args[1] if len(call.args) > 1 else words.pop("requires_grad", None)
    if data is None or words or len(call.args) > 2 or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return _Wrapping(call, data, flag)


def _tests_class(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")
