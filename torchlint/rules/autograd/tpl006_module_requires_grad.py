from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.fact import Fact, all_of, known
from torchlint.fixes.changes import CodeFix, fix, replace, replace_by_lines
from torchlint.fixes.code import compound, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call, Word
from torchlint.target import MODULES_HAVE_REQUIRES_GRAD_

_FLAG = "requires_grad"
_METHOD = "requires_grad_"


class ModuleRequiresGrad(Rule):
    """
    ## What it does
    Finds `requires_grad` set on an `nn.Module`: `model.backbone.requires_grad = False`, `setattr(layer, "requires_grad",
    False)`, and the method overwritten instead of called, `model.requires_grad_ = False`. Where a loop beside sets the flag of
    all of the module's parameters to the same, that is strict: the line is left over.

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
    Safe for modules of torch or of the file, in a file that imports nothing but torch and well-known libraries:
    `requires_grad_` sets the flag of all parameters of the module, which is what was meant. Unsafe where the module may have a
    flag of its own, where it is frozen in a loop or a function and may be trained again, where nothing may be left to train or
    to hand to an optimizer, where a gradient of the module is needed (`p.grad` is computed with, a hook registered,
    `torch.autograd.grad` asked for it), and where not all of the parameters may be meant to be trained.

    For torch before 1.3, whose
    modules have no such method, the fix is a loop over the parameters. There is none where one statement sets the flags of
    several things in a tuple.

    ## References
    - [torch.nn.Module.requires_grad_](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TPL006"
    name = "module-requires-grad"
    triggers = (Word(_FLAG, _METHOD, within="Assign"), Call("setattr"))
    needs = ((_FLAG, _METHOD),)

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports an assignment to a module's `requires_grad`."""
        for target, value in _flags([each.target for each in node.targets], node.value):
            if self.model.modules.freezes_nothing(target.value, value):
                message = self._message(target.value, value, overwritten=target.attr.value == _METHOD)
                is_done = self.model.modules.is_flag_set_beside(target.value, value)
                self.report(target, message, self._fix(node, target), strict=is_done)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports ``setattr`` of a module's `requires_grad`."""
        match node:
            case cst.Call(
                cst.Name("setattr"),
                [
                    cst.Arg(owner, keyword=None, star=""),
                    cst.Arg(cst.SimpleString(evaluated_value=name), keyword=None, star=""),
                    cst.Arg(value, keyword=None, star=""),
                ],
            ) if name == _FLAG and self.model.modules.freezes_nothing(owner, value):
                called = fix(f"Call `{_METHOD}`", replace(node, _call(owner, value)), rests_on=self._fact(node, owner, value))
                self.report(node, self._message(owner, value), called if self._can_call_method else None)

    def _message(self, owner: cst.BaseExpression, value: cst.BaseExpression, *, overwritten: bool = False) -> str:
        shown = self.model.shown(owner)
        flag = self.model.text(value) if _flag(value) is value else self.model.shown(_flag(value))
        call = f"call `{shown}.{_METHOD}({flag})`" if self.model.is_on_one_line(value) else f"call `{shown}.{_METHOD}`"
        on = self.model.code.truth(value)
        effect = "neither freezes nor unfreezes anything" if on is None else f"{'un' if on else ''}freezes nothing"
        if overwritten:
            return f"`{shown}.{_METHOD}` is overwritten, which {effect}; {call}"
        return f"`{shown}` is a module and has no `{_FLAG}`: setting it {effect}; {call}"

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix(self, node: cst.Assign, target: cst.Attribute) -> CodeFix | None:
        if _is_no_flag(node.value):
            return None
        is_only = len(node.targets) == 1 and node.targets[0].target is target
        if not self._can_call_method:
            return self._loop(node, target.value) if is_only else None
        if is_only:
            call = statement("{method}({flag})", method=_method(target), flag=_flag(node.value))
            return fix(f"Call `{_METHOD}`", replace(node, call), rests_on=self._fact(node, target.value, node.value))
        calls = self._calls(node)
        owners = [each.target.value for each in node.targets if isinstance(each.target, cst.Attribute)]
        fact = all_of(*(self._fact(node, owner, node.value) for owner in owners))
        return fix(f"Call `{_METHOD}`", replace_by_lines(node, *calls), rests_on=fact) if calls else None

    def _fact(self, node: cst.CSTNode, owner: cst.BaseExpression, value: cst.BaseExpression) -> Fact:
        """Whether the call does what was meant and nothing besides."""
        is_statement = isinstance(node, cst.Assign) or isinstance(self.model.parent(node), cst.Expr)
        used = known(is_statement, "the value of `setattr` is used")
        return used & self.model.autograd.takes_flag(owner, value, _FLAG)

    def _calls(self, node: cst.Assign) -> list[cst.BaseSmallStatement]:
        """A call for each target of ``a.requires_grad = b.requires_grad = False``, if all of them are modules."""
        calls: list[cst.BaseSmallStatement] = []
        for each in node.targets:
            match each.target:
                case cst.Attribute(value=owner, attr=cst.Name(name)) if (
                    name == _FLAG
                    and self.model.code.truth(node.value) is not None
                    and self.model.modules.freezes_nothing(owner, node.value)
                ):
                    calls.append(cst.Expr(_call(owner, node.value)))
                case _:
                    return []
        return calls

    def _loop(self, node: cst.Assign, module: cst.BaseExpression) -> CodeFix | None:
        """A loop over the parameters, for torch versions whose modules have no `requires_grad_`."""
        if self.model.code.is_bound("parameter", node):
            return None
        template = f"for parameter in {{module}}.parameters():\n    parameter.{_FLAG} = {{flag}}\n"
        loop = compound(template, module=module, flag=_flag(node.value))
        return fix(
            "Set the flag of the parameters", replace_by_lines(node, loop), rests_on=self._fact(node, module, node.value)
        )

    @property
    def _can_call_method(self) -> bool:
        return self.options.target >= MODULES_HAVE_REQUIRES_GRAD_


def _flags(
    targets: Iterable[cst.BaseExpression], value: cst.BaseExpression
) -> Iterator[tuple[cst.Attribute, cst.BaseExpression]]:
    """The targets of an assignment that are `requires_grad` of something, and what each is given."""
    for target in targets:
        match target, value:
            case ((cst.Tuple(parts) | cst.List(parts)), (cst.Tuple(values) | cst.List(values))) if len(parts) == len(values):
                for part, given in zip(parts, values):
                    yield from _flags([part.value], given.value)
            case cst.Attribute(attr=cst.Name(name)), _ if name in (_FLAG, _METHOD):
                yield target, value


def _flag(value: cst.BaseExpression) -> cst.BaseExpression:
    """What is given as a flag; parameters do not take 0 and 1 for it."""
    return cst.Name(str(bool(value.evaluated_value))) if isinstance(value, cst.Integer) else value


def _is_no_flag(value: cst.BaseExpression) -> bool:
    """Whether a value that is written out is neither true nor false."""
    match value:
        case cst.Integer(evaluated_value=number):
            return number not in (0, 1)
        case cst.BaseString() | cst.BaseNumber() | cst.Ellipsis() | cst.Name("None"):
            return True
    return False


def _method(target: cst.Attribute) -> cst.BaseExpression:
    """``x.requires_grad_`` for ``x.requires_grad``; parentheses around that are then around ``x``."""
    if not target.lpar:
        return target.with_changes(attr=cst.Name(_METHOD))
    owner = target.value
    owner = owner.with_changes(lpar=[*target.lpar, *owner.lpar], rpar=[*owner.rpar, *target.rpar])
    return expression(f"{{owner}}.{_METHOD}", owner=owner)


def _call(module: cst.BaseExpression, flag: cst.BaseExpression) -> cst.BaseExpression:
    return expression(f"{{module}}.{_METHOD}({{flag}})", module=module, flag=_flag(flag))
