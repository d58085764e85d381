from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen, is_about_torch
from torchlint.semantics import Form, Type
from torchlint.semantics.code.tree import Function, walk_body
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.new import NewModules

_NEED_INIT = frozenset(
    {
        *("add_module", "register_module", "register_buffer", "register_parameter", "register_forward_hook"),
        *("register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"),
        *("apply", "to", "cuda", "cpu", "half", "double", "eval", "train", "requires_grad_", "state_dict", "load_state_dict"),
        *("parameters", "named_parameters", "buffers", "modules", "named_modules", "children", "named_children", "zero_grad"),
    }
)
"""Methods of modules that raise an AttributeError before ``Module.__init__`` has run."""
_NO_ARGUMENTS = frozenset({"torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
_LIGHTNING = ("pytorch_lightning.", "lightning.")

_OF_MODULES = (b"Module", b"allennlp", b"fairseq")
_CONSTRUCTOR = re.compile(rb"def[\s\\]+__init__[\s\\]*[(\[]")
_NEXT_DEFINITION = re.compile(rb"[\r\n][ \t\f]*(?:async[\s\\]+)?(?:def|class)[\s\\]")
_CALL_OF_BASE = re.compile(rb"[ \t]*(?:super\([^()\r\n#]*\)|[\w.]+)\Z")
_STRING = rb"\"[^\"\r\n\\]*\"|'[^'\r\n\\]*'"
_SIGNATURE = re.compile(
    rb"(?:[^()#\"'\\]|#[^\r\n]*[\r\n]|" + _STRING + rb"|\((?:[^()#\"'\\]|" + _STRING + rb")*\))*"
    rb"\)[ \t]*(?:->[^:\r\n]+)?:[ \t]*(?:#[^\r\n]*)?[\r\n]"
)
_DOCSTRING = re.compile(rb'\s*[rR]?("""|\'\'\')')
_DOT_OR_QUOTE = re.compile(rb"[.\"']")
"""What stands in front of the call of the base's may be the use of an attribute, or have that call in a string."""


def _may_lack_init(data: bytes) -> bool:
    """Whether some ``__init__`` uses an attribute in front of its call of the base's, or has no such call."""
    if not (any(word in data for word in _OF_MODULES) or is_about_torch(data)):
        return False
    for match in _CONSTRUCTOR.finditer(data):
        following = _NEXT_DEFINITION.search(data, match.end())
        end = following.start() if following else len(data)
        start = _start_of_code(data, match.end())
        call = data.find(b".__init__(", start, end)
        if call < 0:
            return True
        line = max(data.rfind(b"\n", 0, call), data.rfind(b"\r", 0, call)) + 1
        if _CALL_OF_BASE.match(data[line:call]) is None or _DOT_OR_QUOTE.search(data, start, line) is not None:
            return True
    return False


def _start_of_code(data: bytes, start: int) -> int:
    """The place behind the signature and the docstring of a function whose parameters start at ``start``."""
    signature = _SIGNATURE.match(data, start)
    if signature is None:
        return start
    docstring = _DOCSTRING.match(data, signature.end())
    if docstring is None:
        return signature.end()
    return max(data.find(docstring[1], docstring.end()) + 3, signature.end())


class MissingSuperInit(AstRule):
    """
    ## What it does
    Finds `nn.Module` classes whose `__init__` assigns submodules or parameters before it calls `super().__init__()`, or that
    never call it.

    ## Why is this bad
    `nn.Module.__init__` makes the tables in which submodules, parameters, buffers and hooks are registered. Until it has run,
    assigning a submodule raises `AttributeError: cannot assign module before Module.__init__() call`, and so does
    `register_buffer`; a module that was never initialised raises as soon as it is called.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(8, 2)
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 2)
    ```

    ## Fix safety
    Safe: without the call, or with the call behind the assignment, the object could not be made or not be called. The call is
    inserted at the start of `__init__`, or moved in front of the first such assignment. There is no fix where the base class
    takes arguments, or where the arguments of the existing call are only made behind that assignment.

    Classes are left alone that have a metaclass or a base from another file, which may initialise the module some other way.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TPL303"
    name = "missing-super-init"
    screen = Screen(any_of=(b"Module", b"nn", b"allennlp", b"fairseq"), and_any_of=(b"__init__",), check=_may_lack_init)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Looks at a module's constructor."""
        function = self.semantics.facts.classes[node].methods.get("__init__")
        if function is None or function.decorator_list or not (function.args.posonlyargs or function.args.args):
            return
        if _starts_with_init(function):
            return
        if _is_made_by_decorator(node) or self._is_called_by_name(node):
            return
        if not self._is_module(node) or not self._classes.has_known_bases(node) or self._sets_state_itself(function):
            return
        calls = list(self._classes.initialising(function))
        culprit = self._first_too_early(node, function, calls)
        if calls and culprit is not None:
            self._report_early(node, function, culprit, calls)
        elif not calls and (culprit is not None or self._is_called(node, function)):
            self._report_missing(node, function, culprit)

    @cached_property
    def _classes(self) -> ModuleClasses:
        return ModuleClasses(self.semantics)

    @cached_property
    def _new(self) -> NewModules:
        return NewModules(self.semantics)

    def _is_module(self, node: ast.ClassDef) -> bool:
        return any(
            self.semantics.kind(base).type is Type.CLASS or self._is_framework(base)
            for current in self.semantics.facts.bases(node)
            for base in current.bases
            if self.semantics.facts.definition(base) is None and self.semantics.facts.is_module(node)
        )

    def _is_framework(self, base: ast.expr) -> bool:
        name = self.semantics.qualified_name(base) or ""
        return name not in ("builtins.object", "abc.ABC") and not name.startswith(("torch.", "typing."))

    # --- what comes too early ----------------------------------------------------------------------------------------

    def _first_too_early(self, node: ast.ClassDef, function: Function, calls: list[ast.Call]) -> ast.expr | None:
        """The first use of what ``Module.__init__`` sets up, where no call of it can have come before."""
        flow = self.semantics.control_flow
        for part in walk_body(function.body):
            if isinstance(part, (ast.Attribute, ast.Call)) and self._needs_init(node, part):
                if flow.may_start_with(function, part, calls) and not any(flow.may_follow(call, part) for call in calls):
                    return part
        return None

    def _needs_init(self, node: ast.ClassDef, part: ast.Attribute | ast.Call) -> bool:
        """Whether ``part`` is ``self.name`` being given a module or parameter, or a call such as ``self.register_buffer``."""
        facts = self.semantics.facts
        match part:
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return name in _NEED_INIT and facts.self_class(value) is node and facts.method(node, name) is None
            case ast.Attribute(value=value, attr=name, ctx=ast.Store()):
                if facts.self_class(value) is not node or facts.method(node, name) is not None:
                    return False
                statement = self.semantics.tree.parent(part)
                given = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
                return given is not None and self._is_module_or_parameter(given)
        return False

    def _is_module_or_parameter(self, value: ast.expr) -> bool:
        if self._new.is_module(value) or self._new.is_parameter(value):
            return not (isinstance(value, ast.IfExp) or self._may_be_none(value))
        return isinstance(value, ast.Name) and self.semantics.kind(value).type is Type.MODULE and self._is_required(value)

    def _may_be_none(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Name) and any(
            isinstance(binding.value, ast.Constant) for binding in self.semantics.bindings.reaching(value)
        )

    def _is_required(self, value: ast.Name) -> bool:
        """Whether a name is a parameter that has no default, such as ``None``."""
        for binding in self.semantics.bindings.reaching(value):
            function = binding.scope.node
            if binding.form is not Form.PARAMETER or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return False
            if not isinstance(binding.node, ast.arg) or self.semantics.facts.default(function, binding.node) is not None:
                return False
        return True

    def _sets_state_itself(self, function: Function) -> bool:
        """Whether a constructor fills the object's dictionary by hand."""
        return any(
            isinstance(part, ast.Attribute) and part.attr in ("__dict__", "__setstate__", "__setattr__")
            for part in walk_body(function.body)
        )

    def _is_called_by_name(self, node: ast.ClassDef) -> bool:
        """Whether the file calls ``Class.__init__`` on objects of other classes, which may be initialised already."""
        calls = self.semantics.facts.calls.get("__init__", ())
        names = (call.func.value for call in calls if isinstance(call.func, ast.Attribute))
        return any(self.semantics.facts.definition(name) is node for name in names)

    def _is_called(self, node: ast.ClassDef, function: Function) -> bool:
        """Whether a class has what makes its instances be called, and a constructor that may come to its end."""
        facts = self.semantics.facts
        if facts.method(node, "forward") is None or facts.method(node, "__call__") is not None:
            return False
        return not isinstance(function.body[-1], ast.Raise)

    # --- reports -----------------------------------------------------------------------------------------------------

    def _report_early(self, node: ast.ClassDef, function: Function, culprit: ast.expr, calls: list[ast.Call]) -> None:
        what = f"`{_text(culprit)}` is called" if isinstance(culprit, ast.Call) else f"`{ast.unparse(culprit)}` is assigned"
        message = f"{what} before `super().__init__()`: constructing `{node.name}` raises an AttributeError"
        edits = self._moved(function, culprit, calls)
        fix = self.fix("Call `super().__init__()` first", edits, safe=True) if edits else None
        self.report(culprit, message, fix)

    def _report_missing(self, node: ast.ClassDef, function: Function, culprit: ast.expr | None) -> None:
        uncalled = self._uncalled(function)
        if uncalled is not None:
            end = self.source.end(uncalled)
            message = f"`{ast.unparse(uncalled)}` is not called: `{node.name}` is never initialised as a module; add `()`"
            self.report(uncalled, message, self.fix("Add `()`", [(end, end, "()")], safe=True))
            return
        if culprit is None:
            damage = "calling the module raises"
        elif isinstance(culprit, ast.Call):
            damage = f"`{_text(culprit)}` raises"
        else:
            damage = f"assigning `{ast.unparse(culprit)}` raises"
        message = f"`{node.name}.__init__` does not call `super().__init__()`: {damage} an AttributeError"
        fix = None
        if self._takes_no_arguments(node):
            fix = self.fix("Call `super().__init__()`", [self._inserted(function)], safe=True)
        place = culprit if culprit is not None else [*function.args.posonlyargs, *function.args.args][0]
        self.report(place, message, fix)

    @staticmethod
    def _uncalled(function: Function) -> ast.Attribute | None:
        """``super().__init__`` as a statement, without the parentheses."""
        for statement in function.body:
            match statement:
                case ast.Expr(value=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__") as attribute):
                    return attribute
        return None

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _takes_no_arguments(self, node: ast.ClassDef) -> bool:
        """Whether ``super().__init__()`` works in a class: its first base with a constructor needs nothing."""
        facts = self.semantics.facts
        for base in list(facts.bases(node))[1:]:
            constructor = facts.classes[base].methods.get("__init__")
            if constructor is not None:
                return not _required(constructor)
        outer = [base for current in facts.bases(node) for base in current.bases if facts.definition(base) is None]
        names = [self.semantics.qualified_name(base) or "" for base in outer]
        return all(name in _NO_ARGUMENTS or name.startswith(_LIGHTNING) or "." not in name or "ABC" in name for name in names)

    def _inserted(self, function: Function) -> TextEdit:
        """Inserts the call as the first statement behind the docstring."""
        body = function.body
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
        first = body[1] if documented else body[0]
        if isinstance(body[0], ast.Pass) and len(body) == 1:
            return (self.source.start(first), self.source.end(first), "super().__init__()")
        return self._in_front_of(first, "super().__init__()")

    def _in_front_of(self, statement: ast.stmt, text: str) -> TextEdit:
        """Inserts a statement in front of another of the same block."""
        rewriter = Rewriter(self.source, self.semantics)
        start = self.source.start(statement)
        row_start = self.source.line_start(statement.lineno)
        if self.source.text[row_start:start].strip(" \t\f"):
            return (start, start, f"{text}; ")
        return (start, start, f"{text}{self.source.newline}{rewriter.indentation(statement)}")

    def _moved(self, function: Function, culprit: ast.expr, calls: list[ast.Call]) -> list[TextEdit] | None:
        """Moves the call in front of the statement of the function's body in which the first culprit stands."""
        tree = self.semantics.tree
        if len(calls) != 1 or not isinstance(statement := tree.parent(calls[0]), ast.Expr) or statement not in function.body:
            return None
        target = next(each for each in function.body if tree.inside(culprit, each))
        rewriter = Rewriter(self.source, self.semantics)
        if function.body.index(target) >= function.body.index(statement) or not rewriter.stands_alone(statement):
            return None
        if not self._is_made_before(calls[0], target) or "#" in self.source.segment(statement):
            return None
        text = self.source.segment(statement)
        return [self._in_front_of(target, text), self._deleted(statement, rewriter)]

    def _deleted(self, statement: ast.stmt, rewriter: Rewriter) -> TextEdit:
        """Deletes a statement with its line, but for a comment that stands behind it."""
        start, end = self.source.start(statement), self.source.end(statement)
        line_end = self.source.line_span(statement.end_lineno or statement.lineno)[1]
        comment = self.source.text.find("#", end, line_end)
        return (start, comment, "") if comment >= 0 else rewriter.delete_statement(statement)

    def _is_made_before(self, call: ast.Call, target: ast.stmt) -> bool:
        """Whether the arguments of a call are the same in front of ``target``."""
        limit = self.source.start(target)
        for part in ast.walk(call):
            if isinstance(part, ast.Name):
                for binding in self.semantics.bindings.reaching(part):
                    if binding.scope.node is self.semantics.tree.function(call) and binding.form is not Form.PARAMETER:
                        if not isinstance(binding.node, (ast.expr, ast.stmt)) or self.source.start(binding.node) >= limit:
                            return False
            elif isinstance(part, (ast.Lambda, ast.NamedExpr)) or self._is_own_attribute(part):
                return False
        return True

    def _is_own_attribute(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and self.semantics.facts.self_class(node.value) is not None


def _starts_with_init(function: Function) -> bool:
    """Whether nothing that may need the base class stands in front of the call that has it initialised."""
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
                return True
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Assert():
                continue
            case ast.Assign(targets=[ast.Name()], value=value) if not isinstance(value, ast.Call):
                continue
        return False
    return False


def _text(call: ast.Call) -> str:
    return f"{ast.unparse(call.func)}()"


def _required(function: Function) -> bool:
    """Whether a method needs arguments beside ``self``."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    keyword_only = any(default is None for default in arguments.kw_defaults)
    return len(positional) - len(arguments.defaults) > 1 or keyword_only


def _is_made_by_decorator(node: ast.ClassDef) -> bool:
    """Whether a decorator writes methods of the class: dataclasses and their like."""
    return any("dataclass" in (text := ast.unparse(decorator)) or "attr" in text for decorator in node.decorator_list)
