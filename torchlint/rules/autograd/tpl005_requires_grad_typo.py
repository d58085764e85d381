from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import Fact, known
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call, Misspelt, Word, is_near
from torchlint.semantics import Type
from torchlint.target import MODULES_HAVE_REQUIRES_GRAD_

_RIGHT = "requires_grad"
_METHOD = "requires_grad_"
_OTHER_WORDS = re.compile(r"(retains?_?grad|grades?|gram|grid|graph|guard|gradients?)_?$", re.IGNORECASE)
"""Endings of names that are about something else, near as they may be."""


def _is_typo(name: str) -> bool:
    """Whether ``name`` is within two edits of ``requires_grad`` without being it, private, or about something else."""
    if name.startswith("_") or name.rstrip("_") == _RIGHT or _OTHER_WORDS.search(name):
        return False
    return is_near(name, _RIGHT)


class RequiresGradTypo(Rule):
    """
    ## What it does
    Finds misspelt `requires_grad`: `p.requres_grad = False`, `torch.ones(3, require_grad=True)`,
    `setattr(p, "required_grad", False)`; `p.requires_grad == False` as a statement, which compares and does nothing; the
    method of a tensor that is overwritten, `p.requires_grad_ = False`; and the flag that is called, `p.requires_grad(False)`.

    Strict is what is told again, by its right name: `w.require_grad = False` before `nn.Parameter(w, requires_grad=False)`.

    ## Why is this bad
    Python lets any attribute be set. `p.requres_grad = False` raises nothing and freezes nothing: the parameter goes on
    training. To call the flag raises a TypeError, of a module, which has none, an AttributeError.

    ## Example
    ```python
    for p in backbone.parameters():
        p.requres_grad = False
    ```

    ## Use instead
    ```python
    for p in backbone.parameters():
        p.requires_grad = False
    ```

    ## Fix safety
    Safe for parameters, and for modules of torch or of the file, that are given a truth value, in a file that imports nothing
    but torch and well-known libraries: the right name is what was meant. Unsafe where the value may be no parameter (the
    result of an operation refuses the flag, and so do weights that are pruned or parametrized), where one of whole numbers
    would be made to require grad, where what is assigned may be no flag, and where code of another file, or by a name that is
    no part of the code (`vars(p)`), may read the misspelt attribute. So it is where the gradient of what is frozen then is
    needed: `p.grad` is computed with, a hook registered, `torch.autograd.grad` asked for it, or nothing is left to train.

    ## References
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    """

    code = "TPL005"
    name = "requires-grad-typo"
    triggers = (
        Misspelt(_RIGHT),
        Call(_RIGHT),
        Word(_RIGHT, within="Expr"),
        Word(_METHOD, within="Assign AnnAssign"),
    )

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a misspelt attribute that is assigned, and the method of a tensor that is overwritten instead of called."""
        owner, name = node.value, node.attr.value
        if not self.model.is_stored(node) or not self._sets_flag(node):
            return
        renamed = node.with_changes(attr=cst.Name(_RIGHT))
        if _is_typo(name) and not self.model.code.gives_meaning(owner, name):
            fact = self.model.autograd.takes_flag(owner, _assigned(self.model.parent(node)), name)
            strict = self.model.autograd.is_told_later(owner)
            self.report(node, _message(name), self._call(node, fact) or _rename(node, renamed, fact), strict=strict)
        elif name == _METHOD and self.model.kind(owner).is_tensor:
            tensor = self.model.shown(owner)
            message = f"`{tensor}.{_METHOD}` is overwritten, which sets no flag; assign to `{tensor}.{_RIGHT}`"
            fact = self.model.autograd.takes_flag(owner, _assigned(self.model.parent(node)), name)
            self.report(node, message, _rename(node, renamed, fact))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a misspelt keyword of a call that is torch's, and ``setattr`` with a misspelt name."""
        match node:
            case cst.Call(
                cst.Name("setattr"),
                [
                    cst.Arg(owner, keyword=None, star=""),
                    cst.Arg(cst.SimpleString() as literal, keyword=None, star=""),
                    cst.Arg(value, keyword=None, star=""),
                ],
            ):
                name = literal.evaluated_value
                if isinstance(name, str) and _is_typo(name) and not self.model.code.gives_meaning(owner, name):
                    right = literal.with_changes(value=literal.value.replace(name, _RIGHT))
                    fact = self.model.autograd.takes_flag(owner, value, name)
                    self.report(literal, _message(name), _rename(literal, right, fact))
            case cst.Call(cst.Attribute(owner, cst.Name(name)) as method, arguments) if name == _RIGHT and len(arguments) < 2:
                self._check_called_flag(node, method, owner)
        for word in node.args:
            if word.keyword is not None and _is_typo(word.keyword.value) and self._is_torch(node):
                renamed = word.with_changes(keyword=cst.Name(_RIGHT))
                refused = known(self.model.kinds.is_factory(node), "the call may know the word, or hand it on")
                fact = refused & self.model.code.ends_with_its_error(node)
                self.report(word, _message(word.keyword.value), _rename(word, renamed, fact))

    def _check_called_flag(self, call: cst.Call, method: cst.Attribute, owner: cst.BaseExpression) -> None:
        kind = self.model.kind(owner)
        is_tensor = kind.is_tensor and not kind.loose and kind.used != _RIGHT
        is_module = (
            kind.type is Type.MODULE and kind.name.startswith(("torch.", "torchvision.")) and kind.name != "torch.nn.Module"
        )
        if not (is_tensor or is_module):
            return  # it may be an object with such a method, which a module of the file's own may have as well
        shown, error = self.model.shown(owner), "TypeError" if is_tensor else "AttributeError"
        is_asked = not call.args and not isinstance(self.model.parent(call), cst.Expr)
        change = replace(call, method) if is_asked else replace(method, method.with_changes(attr=cst.Name(_METHOD)))
        right = f"{shown}.{_RIGHT}" if is_asked else f"{shown}.{_METHOD}({self.model.shown(call.args[0]) if call.args else ''})"
        raises = self.model.kinds.is_tensor(owner) & self.model.code.ends_with_its_error(call)
        self.report(
            call,
            f"`{shown}.{_RIGHT}(…)` raises {error}: what is called is a flag; use `{right}`",
            fix(f"Use `{right}`", change, rests_on=raises),
        )

    def visit_Expr(self, node: cst.Expr) -> None:
        """Reports a comparison that was meant to be an assignment."""
        match node.value:
            case cst.Comparison(
                left=cst.Attribute(owner, cst.Name(name)) as target,
                comparisons=[cst.ComparisonTarget(cst.Equal(), cst.Name("True" | "False") as flag)],
            ) if name == _RIGHT or (_is_typo(name) and not self.model.code.gives_meaning(owner, name)):
                right = target if name == _RIGHT else target.with_changes(attr=cst.Name(_RIGHT))
                assignment = statement("{target} = {flag}", target=right, flag=flag)
                self.report(
                    node,
                    f"`{self.model.shown(target)} == {flag.value}` compares and changes nothing; "
                    f"assign to `{self.model.shown(owner)}.{_RIGHT}`",
                    fix(
                        "Assign instead of comparing",
                        replace(node, assignment),
                        rests_on=self.model.autograd.takes_flag(owner, flag, name),
                    ),
                )

    def _call(self, target: cst.Attribute, fact: Fact) -> CodeFix | None:
        """What is assigned to a module becomes the argument of a call: modules have no ``requires_grad`` to set either."""
        assignment = self.model.parent(target)
        is_module = self.model.kind(target.value).type is Type.MODULE
        if not is_module or self.options.target < MODULES_HAVE_REQUIRES_GRAD_:
            return None
        match assignment:
            case cst.Assign(targets=[cst.AssignTarget(only)], value=value) if only is target:
                call = statement("{module}.requires_grad_({value})", module=target.value, value=value)
                return fix("Call `requires_grad_`", replace(assignment, call), rests_on=fact)
        return None

    def _sets_flag(self, node: cst.Attribute) -> bool:
        """Whether what is assigned may be a flag: a number or a text is something else's."""
        match self.model.parent(node):
            case cst.Assign(value=cst.Integer("0" | "1") | cst.Name("True" | "False")):
                return True
            case cst.Assign(
                value=cst.BaseNumber() | cst.SimpleString() | cst.ConcatenatedString() | cst.Name("None") | cst.Ellipsis()
            ):
                return False
            case cst.AugAssign() | cst.For() | cst.WithItem() | cst.AnnAssign(value=None):
                return False
        return True

    def _is_torch(self, call: cst.Call) -> bool:
        if self.model.name(call.func).startswith("torch."):
            return True
        return isinstance(call.func, cst.Attribute) and self.model.kind(call.func.value).is_tensor


def _rename(wrong: cst.CSTNode, right: cst.CSTNode, fact: Fact) -> CodeFix:
    return fix(f"Rename to `{_RIGHT}`", replace(wrong, right), rests_on=fact)


def _assigned(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What an assignment of one target assigns."""
    match statement:
        case cst.Assign(targets=[_], value=value) | cst.AnnAssign(value=value):
            return value
    return None


def _message(wrong: str) -> str:
    return f"`{wrong}` is a misspelt `{_RIGHT}`: it is set without an error and has no effect"
