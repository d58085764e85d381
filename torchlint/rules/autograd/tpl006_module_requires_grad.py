from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TypeGuard

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.semantics.code.tree import FUNCTIONS, dotted
from torchlint.semantics.modules.evidence import ModuleEvidence
from torchlint.target import MODULES_HAVE_REQUIRES_GRAD_

_FLAG = "requires_grad"
_METHOD = "requires_grad_"


class ModuleRequiresGrad(AstRule):
    """
    ## What it does
    Finds `requires_grad` set on an `nn.Module`: `model.backbone.requires_grad = False`, `setattr(layer, "requires_grad",
    False)`, and the method overwritten instead of called, `model.requires_grad_ = False`.

    ## Why is this bad
    Modules have no `requires_grad`; their parameters have. Python lets any attribute be set, so the line raises nothing and
    freezes nothing: every parameter of the module goes on training.

    ## Example
    ```python
    backbone = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    backbone.requires_grad = False
    ```

    ## Use instead
    ```python
    backbone = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    backbone.requires_grad_(False)
    ```

    ## Fix safety
    Safe: `requires_grad_` sets the flag of all parameters of the module, which is what was meant. For torch before 1.3, whose
    modules have no such method, the fix is a loop over the parameters. There is none where one statement sets the flags of
    several things in a tuple.

    ## References
    - [torch.nn.Module.requires_grad_](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TPL006"
    name = "module-requires-grad"
    screen = Screen(
        any_of=(b"requires_grad",),
        pattern=re.compile(rb"\.requires_grad_?\b[\s\\)\]]*(?:=(?!=)|[,#])|setattr"),
        names=frozenset({b".requires_grad", b".requires_grad_"}),
    )

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _evidence(self) -> ModuleEvidence:
        return ModuleEvidence(self.semantics)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Reports an assignment to a module's `requires_grad`."""
        for target, value in _flags(node.targets, node.value):
            if self._freezes_nothing(target.value, value):
                self.report(target, self._message(target, value), self._fix(node, target))

    def visit_Call(self, node: ast.Call) -> None:
        """Reports ``setattr`` of a module's `requires_grad`."""
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=name), value], keywords=[]) if (
                name == _FLAG and self._freezes_nothing(owner, value)
            ):
                text = f"{self._rewriter.operand(owner)}.{_METHOD}({self._flag(value)})"
                edit = (self.source.start(node), self.source.end(node), text)
                fix = self.fix(f"Call `{_METHOD}`", [edit], safe=True) if self._can_call_method() else None
                self.report(node, self._message(ast.Attribute(owner, _FLAG, ast.Store()), value), fix)

    def _message(self, target: ast.Attribute, value: ast.expr) -> str:
        owner, flag = ast.unparse(target.value), self._flag(value)
        call = f"call `{owner}.{_METHOD}({flag})`" if "\n" not in flag else f"call `{owner}.{_METHOD}`"
        if target.attr == _METHOD:
            return f"`{owner}.{_METHOD}` is overwritten, which {_effect(value)}; {call}"
        return f"`{owner}` is a module and has no `{_FLAG}`: setting it {_effect(value)}; {call}"

    # --- what the flag is of -----------------------------------------------------------------------------------------

    def _freezes_nothing(self, owner: ast.expr, value: ast.expr) -> bool:
        """Whether ``owner`` is a module to which `requires_grad` means nothing."""
        own_class = self.semantics.facts.self_class(owner)
        if own_class is not None:
            return self.semantics.facts.is_module(own_class) and self._is_meant_for_parameters(own_class, owner, value)
        if not self._evidence.is_module(owner) or self._is_taken_for_other(owner) or self._is_read(owner):
            return False
        definition = self.semantics.kind(owner).definition
        return not isinstance(definition, ast.ClassDef) or not self._has_flag(definition)

    def _has_flag(self, definition: ast.ClassDef) -> bool:
        """Whether a class gives `requires_grad` a meaning of its own."""
        facts = self.semantics.facts
        if any(facts.method(definition, name) is not None for name in (_FLAG, "__setattr__")):
            return True
        return any(slot.uses or slot.class_values for slot in facts.slots(definition, _FLAG))

    def _is_meant_for_parameters(self, own_class: ast.ClassDef, owner: ast.expr, value: ast.expr) -> bool:
        """Whether a module that sets its own flag means to freeze itself, and has something to freeze.

        An option that the constructor takes is kept for others to read.
        """
        function = self.semantics.tree.function(owner)
        constructed = isinstance(function, FUNCTIONS) and function.name == "__init__"
        if self._has_flag(own_class) or (constructed and not isinstance(value, ast.Constant)):
            return False
        return self._has_parameters(own_class)

    def _has_parameters(self, definition: ast.ClassDef) -> bool:
        for current in self.semantics.facts.bases(definition):
            for base in current.bases:
                name = self.semantics.qualified_name(base) or ""
                if name.startswith("torch.nn.") and name not in ("torch.nn.Module", "torch.nn.Sequential"):
                    return True
            for name in self.semantics.facts.classes[current].slots:
                kinds = [
                    self.semantics.kind(store) for slot in self.semantics.facts.slots(current, name) for store in slot.stores
                ]
                if any(kind.type is Type.MODULE or kind.why in _PARAMETERS for kind in kinds):
                    return True
        return False

    def _is_taken_for_other(self, owner: ast.expr) -> bool:
        """Whether the code asks what ``owner`` is, and here it is not what was found to be a module.

        That is so in the `else` of ``if isinstance(x, nn.Module)``, behind it, and where it is found to be a parameter.
        """
        chain = dotted(owner)
        child: ast.AST = owner
        for parent in self.semantics.tree.ancestors(owner):
            if isinstance(parent, ast.ExceptHandler):
                return True
            if isinstance(parent, ast.If) and child in parent.body and _asks(parent.test, chain):
                return not self._finds_module(parent.test, chain)
            child = parent
            if isinstance(parent, FUNCTIONS):
                break
        return chain in self._asked_about(child)

    def _asked_about(self, scope: ast.AST) -> set[str | None]:
        """What a function asks the class or the attributes of."""
        if scope not in self._asked:
            subjects = [_subject(part) for part in ast.walk(scope) if isinstance(part, ast.Call)]
            self._asked[scope] = {dotted(subject) for subject in subjects if subject is not None} - {None}
        return self._asked[scope]

    @cached_property
    def _asked(self) -> dict[ast.AST, set[str | None]]:
        return {}

    def _finds_module(self, test: ast.expr, chain: str | None) -> bool:
        """Whether a test that asks what ``chain`` is takes it for an instance of classes other than tensors."""
        for part in ast.walk(test):
            match part:
                case ast.Call(func=ast.Name(id="isinstance"), args=[subject, classes]) if dotted(subject) == chain:
                    asked = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                    return not any(self.semantics.qualified_name(found) in _TENSORS for found in asked)
        return False

    def _is_read(self, owner: ast.expr) -> bool:
        """Whether the file reads the flag of the same thing: then it is the author's own."""
        chain = dotted(owner)
        return chain is not None and chain in self._read

    @cached_property
    def _read(self) -> set[str | None]:
        return {
            dotted(node.value)
            for node in self.semantics.tree.nodes
            if isinstance(node, ast.Attribute) and node.attr == _FLAG and isinstance(node.ctx, ast.Load)
        }

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix(self, statement: ast.Assign, target: ast.Attribute) -> Fix | None:
        if isinstance(statement.value, ast.Constant) and statement.value.value not in (True, False):
            return None
        if not self._can_call_method():
            return self._loop(statement, target)
        if statement.targets == [target]:
            value = (self.source.start(statement.value), self.source.end(statement.value), self._flag(statement.value))
            edits = self._rewriter.call_in_place(target, statement, f".{_METHOD}")
            return self.fix(f"Call `{_METHOD}`", [*edits, *([value] if _is_number(statement.value) else [])], safe=True)
        return self._fix_chain(statement)

    def _fix_chain(self, statement: ast.Assign) -> Fix | None:
        """A call for each target of ``a.requires_grad = b.requires_grad = False``, if all of them are modules."""
        targets = [target for target in statement.targets if isinstance(target, ast.Attribute) and target.attr == _FLAG]
        if len(targets) < len(statement.targets) or not isinstance(statement.value, ast.Constant):
            return None
        if not all(self._freezes_nothing(target.value, statement.value) for target in targets):
            return None
        if not self._rewriter.stands_alone(statement) or "#" in self.source.segment(statement):
            return None
        break_ = self.source.newline + self._rewriter.indentation(statement)
        calls = (f"{self.source.segment(target.value)}.{_METHOD}({self._flag(statement.value)})" for target in targets)
        edit = (self.source.start(statement), self.source.end(statement), break_.join(calls))
        return self.fix(f"Call `{_METHOD}`", [edit], safe=True)

    def _loop(self, statement: ast.Assign, target: ast.Attribute) -> Fix | None:
        """A loop over the parameters, for torch versions whose modules have no `requires_grad_`."""
        scope = self.semantics.bindings.scope_of(statement)
        if statement.targets != [target] or self.semantics.bindings.lookup("parameter", scope):
            return None
        if not self._rewriter.stands_alone(statement) or "#" in self.source.segment(statement):
            return None
        inner = self.source.newline + self._rewriter.indentation(statement) + self._rewriter.indent_unit(statement)
        header = f"for parameter in {self._rewriter.operand(target.value)}.parameters():"
        body = f"parameter.{_FLAG} = {self._flag(statement.value)}"
        edit = (self.source.start(statement), self.source.end(statement), f"{header}{inner}{body}")
        return self.fix("Set the flag of the parameters", [edit], safe=True)

    def _can_call_method(self) -> bool:
        return self.target >= MODULES_HAVE_REQUIRES_GRAD_

    def _flag(self, value: ast.expr) -> str:
        """The text of a flag; parameters do not take 0 and 1 for it."""
        return str(bool(value.value)) if _is_number(value) else self.source.segment(value)


_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.autograd.Variable"})
_PARAMETERS = ("made by `nn.Parameter`", "given to `register_parameter`")
"""Why a value is a parameter."""


def _flags(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    """The targets of an assignment that are `requires_grad` of something, and what each is given."""
    for target in targets:
        match target, value:
            case ((ast.Tuple() | ast.List()), (ast.Tuple() | ast.List())) if len(target.elts) == len(value.elts):
                for part, given in zip(target.elts, value.elts):
                    yield from _flags([part], given)
            case ast.Attribute(attr=name), _ if name in (_FLAG, _METHOD):
                yield target, value


def _is_number(value: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(value, ast.Constant) and type(value.value) is int


def _asks(node: ast.expr, chain: str | None) -> bool:
    """Whether a test asks for the class or the attributes of what ``chain`` names, or is made of such questions."""
    match node:
        case ast.Call():
            subject = _subject(node)
            return subject is not None and chain is not None and dotted(subject) == chain
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_asks(value, chain) for value in values)
    return False


def _subject(call: ast.Call) -> ast.expr | None:
    """The ``x`` of ``isinstance(x, …)`` and ``hasattr(x, …)``."""
    match call:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr"), args=[subject, _]):
            return subject
    return None


def _effect(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=flag):
            return "unfreezes nothing" if flag else "freezes nothing"
    return "neither freezes nor unfreezes anything"
