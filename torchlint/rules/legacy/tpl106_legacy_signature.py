from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.arguments import add_keywords, is_open_ended, keyword_of
from torchlint.rules.ast_rule import AstRule
from torchlint.semantics.code.versions import asks_for_version
from torchlint.rules.legacy._reductions import Reductions
from torchlint.rules.legacy._signature_screen import APART, may_hold
from torchlint.rules.legacy._signatures import (
    LOSSES,
    RENAMED,
    SCALED_OPERATIONS,
    SOFTMAX_FUNCTIONS,
    SOFTMAX_MODULES,
    ScaledOperation,
    implicit_dim,
)
from torchlint.text.quotes import usual_quote
from torchlint.rules.renaming import Renaming
from torchlint.rules.screens import Screen
from torchlint.semantics import Form, Type, torch_api
from torchlint.semantics.shapes.ranks import Ranks
from torchlint.target import TorchVersion

_OLD_NAMES = frozenset(name.rpartition(".")[2] for name in RENAMED)
_HAS_REDUCTION = TorchVersion(1, 0)
"""The first torch in which losses take ``reduction`` with the words of today; `interpolate` is as old."""

_LOADER = re.compile(r"loader|_dl\b", re.IGNORECASE)


class LegacySignature(AstRule):
    """
    ## What it does
    Finds functions under the names, and calls with the parameters, that they had before torch 0.4 or 1.0:

    - losses with `size_average=` or `reduce=`, and `criterion.size_average = False`;
    - `clip_grad_norm`, `nn.init.xavier_uniform` and the other initialisers without an underscore at the end, `F.upsample`,
      `F.nll_loss2d`, `nn.NLLLoss2d`, `F.sigmoid`, `F.tanh`;
    - `F.softmax(x)`, `F.log_softmax(x)`, `F.softmin(x)`, `nn.Softmax()` and its like without `dim`;
    - factors in front of operands: `w.add_(-lr, grad)`, `torch.addmm(beta, x, alpha, a, b)`;
    - `probabilities.multinomial()` without a number, `loss.backward(retain_variables=True)`, `iter(loader).next()`.

    ## Why is this bad
    Some were removed and raise: `F.nll_loss2d`, `multinomial()`, `retain_variables`, `.next()`. Most warn at every call, until
    they are removed as well. Two do something else than they say: `criterion.size_average = False` sets an attribute that
    nothing reads, so the mean is taken where the sum was meant; and a softmax without `dim` picks the dimension by their
    number, 0 of one or three and 1 of any other, so that with a batch of sequences it normalises over the batch. `F.sigmoid`
    and `F.tanh` are other names of `torch.sigmoid` and `torch.tanh`, which torch 0.4.1 to 1.13 warned of and which are
    tolerated since.

    ## Example
    ```python
    nn.init.xavier_uniform(model.weight)
    criterion = nn.MSELoss(size_average=False)
    nn.utils.clip_grad_norm(model.parameters(), 0.25)
    model.weight.grad.add_(1e-4, model.weight)
    ```

    ## Use instead
    ```python
    nn.init.xavier_uniform_(model.weight)
    criterion = nn.MSELoss(reduction="sum")
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    model.weight.grad.add_(model.weight, alpha=1e-4)
    ```

    ## Fix safety
    Safe where the new spelling means the same to torch. Unsafe for an implicit dimension: the fix writes the one that torch
    picks for as many dimensions as the code shows, and 1, which is what it picks for two and four, where it shows none.
    Unsafe for flags that are no constants, of which it is assumed that they are true or false, and for
    `criterion.size_average = …`, where the loss becomes what was meant. No fix where flags are handed on together with
    `reduction`, or where a renamed import would clash with another name.

    Code that asks for the version of torch, or catches what an older one lacks, is left alone.

    ## References
    - [torch.nn.MSELoss, on size_average and reduce](https://docs.pytorch.org/docs/stable/generated/torch.nn.MSELoss.html)
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    - [torch.nn.init](https://docs.pytorch.org/docs/stable/nn.init.html)
    """

    code = "TPL106"
    name = "legacy-signature"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(
            *(b"size_average", b"reduce", b"clip_grad_norm", b"init", b"psample", b"sigmoid", b"tanh", b"oftm", b"add"),
            *(
                b"oss",
                b"cross_entropy",
                b"kl_div",
                b"sub",
                b"NLLLoss2d",
                b"nll_loss2d",
                b"multinomial",
                b"retain_variables",
                b"next",
            ),
        ),
        check=may_hold,
        names=APART,
    )

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _reductions(self) -> Reductions:
        return Reductions(self.source, self.semantics)

    @cached_property
    def _renaming(self) -> Renaming:
        return Renaming(self.source, self.semantics, self._rewriter)

    @cached_property
    def _ranks(self) -> Ranks:
        return Ranks(self.semantics)

    def visit_Name(self, node: ast.Name) -> None:
        """Reports an old name that was imported by itself."""
        if isinstance(node.ctx, ast.Load):
            self._visit_reference(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports an old name behind its module."""
        if node.attr in _OLD_NAMES and isinstance(node.ctx, ast.Load):
            self._visit_reference(node, node.attr)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a call whose arguments are those of an older torch."""
        if self.target >= _HAS_REDUCTION:
            self._visit_loss(node)
        self._visit_softmax(node)
        self._visit_backward(node)
        if isinstance(node.func, ast.Attribute):
            self._visit_operation(node, node.func)
            self._visit_next(node, node.func)

    # --- names -------------------------------------------------------------------------------------------------------

    def _visit_reference(self, node: ast.Name | ast.Attribute, name: str) -> None:
        if name not in _OLD_NAMES and name not in self._imported_names:
            return
        old = self.semantics.qualified_name(node)
        renamed = RENAMED.get(old or "")
        if renamed is None or old is None or asks_for_version(node, self.semantics):
            return
        if isinstance(node, ast.Name) and any(found.value is not None for found in self.semantics.bindings.reaching(node)):
            return  # an alias that the file gives it: reported where it is given
        if self.target < _HAS_REDUCTION and renamed.new.endswith(("interpolate", "nll_loss", "NLLLoss")):
            return
        edits = self._renaming.edits(node, old, renamed.new)
        call = self.semantics.tree.parent(node)
        if renamed.keywords and edits is not None:
            if isinstance(call, ast.Call) and call.func is node and not is_open_ended(call):
                edits.append(add_keywords(self.source, call, renamed.keywords))
            else:
                edits = None
        text, new = ast.unparse(node), _short(renamed.new)
        fix = self.fix(f"Use `{new}`", edits, safe=True) if edits is not None else None
        self.report(node, f"`{text}` {renamed.why}: use `{new}`, which does the same", fix)

    @cached_property
    def _imported_names(self) -> frozenset[str]:
        """The names under which the file imports what is renamed."""
        found = self.semantics.bindings.module.bindings
        return frozenset(name for name, all_ in found.items() if any(binding.imported in RENAMED for binding in all_))

    # --- losses ------------------------------------------------------------------------------------------------------

    def _visit_loss(self, call: ast.Call) -> None:
        legacy = self._reductions.legacy(call)
        if legacy is None or asks_for_version(call, self.semantics):
            return
        reduction = self._reductions.reduction(legacy)
        first = legacy.flags[0]
        said = f"{first.name}={ast.unparse(first.value)}"
        if reduction is None:
            if any(isinstance(flag.value, ast.Constant) and not flag.is_none for flag in legacy.flags):
                self.report(first.node, f"`{said}` is deprecated, and overrules `reduction`: leave one of them out")
            return
        edits = self._reductions.edits(legacy, reduction)
        safe = all(isinstance(flag.value, ast.Constant) for flag in legacy.flags)
        fix = self.fix(f"Use `reduction={reduction}`", edits, safe=safe) if edits is not None else None
        self.report(first.node, f"`{said}` is deprecated and warns at every call: use `reduction={reduction}`", fix)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Reports `criterion.size_average = False`, which torch 1.0 and later does not look at."""
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr="size_average" | "reduce") as target], value=ast.Constant(value=bool(on))
            ):
                if self.target >= _HAS_REDUCTION and self._is_loss(target.value):
                    self._report_setting(node, target, on)

    def _is_loss(self, node: ast.expr) -> bool:
        kind = self.semantics.kind(node)
        return kind.type is Type.MODULE and kind.name in LOSSES and kind.definition is None

    def _report_setting(self, node: ast.Assign, flag: ast.Attribute, on: bool) -> None:
        reduction = "mean" if on else "sum" if flag.attr == "size_average" else "none"
        quote = usual_quote(self.source)
        edits = [
            self._rewriter.replace_attribute(flag, ".reduction"),
            (self.source.start(node.value), self.source.end(node.value), f"{quote}{reduction}{quote}"),
        ]
        name = ast.unparse(flag.value)
        message = f"`{name}.{flag.attr}` is an attribute that nothing reads since torch 1.0: set `{name}.reduction`"
        self.report(node, message, self.fix(f'Set `{name}.reduction = "{reduction}"`', edits, safe=False))

    # --- softmax -----------------------------------------------------------------------------------------------------

    def _visit_softmax(self, call: ast.Call) -> None:
        name = self.semantics.qualified_name(call.func)
        if name in SOFTMAX_FUNCTIONS:
            place = 1
        elif name in SOFTMAX_MODULES:
            place = 0
        else:
            return
        given = self._given_dim(call, place)
        if is_open_ended(call) or (given is not None and not _is_none(given)) or len(call.args) > 1 + place:
            return
        if place and not call.args and keyword_of(call, "input") is None:
            return
        rank = self._rank_of_input(call, place)
        dim = implicit_dim(rank) if rank is not None else 1
        if given is not None:
            text = f"dim={dim}" if given in call.args else str(dim)
            edit = (self.source.start(given), self.source.end(given), text)
        else:
            edit = add_keywords(self.source, call, f"dim={dim}")
        picks = "0 of one or three dimensions, else 1" if rank is None else f"{dim}, as there are {rank} of them"
        message = f"`{ast.unparse(call.func)}` without `dim` picks the dimension by their number ({picks}): say `dim=`"
        self.report(call, message, self.fix(f"Add `dim={dim}`", [edit], safe=False))

    @staticmethod
    def _given_dim(call: ast.Call, place: int) -> ast.expr | None:
        if len(call.args) > place:
            return call.args[place]
        word = keyword_of(call, "dim")
        return word.value if word is not None else None

    def _rank_of_input(self, call: ast.Call, place: int) -> int | None:
        """How many dimensions the argument of a softmax has, or the arguments of the module that is made here."""
        if place:
            word = keyword_of(call, "input")
            return self._ranks.of(call.args[0] if word is None else word.value)
        match self.semantics.tree.parent(call):
            case ast.Call(args=parts) as container if self.semantics.qualified_name(container.func) == "torch.nn.Sequential":
                return self._ranks.behind(parts[: parts.index(call)])
        ranks = {self._ranks.of(argument) for argument in self._inputs(call)}
        return ranks.pop() if len(ranks) == 1 else None

    def _inputs(self, construction: ast.Call) -> list[ast.expr]:
        """What the file gives the module that is made by a call."""
        match self.semantics.tree.parent(construction):
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self.semantics.bindings.of(target)
                uses: list[ast.expr] = list(binding.uses) if binding is not None else []
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)]) if (
                definition := self.semantics.facts.self_class(owner)
            ) is not None:
                uses = [use for slot in self.semantics.facts.slots(definition, name) for use in slot.uses]
            case ast.Call(func=function) as call if function is construction:
                return call.args[:1]
            case _:
                return []
        calls = [self.semantics.tree.parent(use) for use in uses]
        return [call.args[0] for use, call in zip(uses, calls) if isinstance(call, ast.Call) and call.func is use and call.args]

    # --- retain_variables --------------------------------------------------------------------------------------------

    def _visit_backward(self, call: ast.Call) -> None:
        word = keyword_of(call, "retain_variables")
        if word is None or not self._is_autograds(call.func):
            return
        edit = (self.source.start(word), self.source.start(word) + len("retain_variables"), "retain_graph")
        message = f"`{ast.unparse(word)}` raises a TypeError since torch 0.4: it is called `retain_graph`"
        self.report(word, message, self.fix("Use `retain_graph`", [edit], safe=True))

    def _is_autograds(self, function: ast.expr) -> bool:
        """Whether a ``backward`` is that of a tensor or of autograd, and not one of the file's own."""
        if self.semantics.qualified_name(function) in ("torch.autograd.backward", "torch.autograd.grad"):
            return True
        if not isinstance(function, ast.Attribute) or function.attr != "backward":
            return False
        kind = self.semantics.kind(function.value)
        if any("backward" in facts.methods for facts in self.semantics.facts.classes.values()):
            return kind.is_tensor and kind.why != "it is back-propagated"
        return kind.is_tensor or not kind.known

    # --- iterators over loaders --------------------------------------------------------------------------------------

    def _visit_next(self, call: ast.Call, function: ast.Attribute) -> None:
        if function.attr != "next" or call.args or call.keywords or not self._iterates_over_loader(function.value):
            return
        iterator = ast.unparse(function.value)
        start, end = self.source.start(call), self.source.end(call)
        edits: list[TextEdit] = [(start, start, "next("), (self.source.end(function.value), end, ")")]
        fix = self.fix(f"Use `next({iterator})`", edits, safe=True) if "#" not in self.source.segment(call) else None
        self.report(call, f"`{iterator}.next()` raises an AttributeError since torch 1.13: use `next({iterator})`", fix)

    def _iterates_over_loader(self, node: ast.expr) -> bool:
        """Whether a value is what `iter` makes of a data loader, or of what nobody knows and is called a loader."""
        match node:
            case ast.Call(func=ast.Name(id="iter"), args=[loader]):
                kind = self.semantics.kind(loader)
                return kind.type is Type.LOADER or (not kind.known and _LOADER.search(ast.unparse(loader)) is not None)
            case ast.Name():
                bindings = self.semantics.bindings.reaching(node)
                values = [found.value if found.form is Form.ASSIGNMENT and not found.path else None for found in bindings]
                calls = [value for value in values if isinstance(value, ast.Call)]
                return bool(calls) and len(calls) == len(values) and all(map(self._iterates_over_loader, calls))
        return False

    # --- factors in front --------------------------------------------------------------------------------------------

    def _visit_operation(self, call: ast.Call, function: ast.Attribute) -> None:
        operation = SCALED_OPERATIONS.get(function.attr.removesuffix("_"))
        if function.attr == "multinomial" and not call.args and not call.keywords:
            self._visit_multinomial(call, function)
        if operation is None or call.keywords or not call.args or is_open_ended(call):
            return
        is_function = self.semantics.qualified_name(function) == f"torch.{function.attr}"
        factors = self._factors(call, operation, is_function)
        operands = [argument for argument in call.args if all(argument is not factor for _, factor in factors)]
        if not factors or any(self.semantics.kind(operand).type is Type.NUMBER for operand in operands):
            return
        if not is_function and not self._is_tensor(function):
            return
        edits = self._factors_behind(call, factors)
        words = ", ".join(f"{name}={ast.unparse(factor)}" for name, factor in factors)
        fix = self.fix(f"Give `{words}` behind the operands", edits, safe=True) if edits is not None else None
        message = f"`{function.attr}` with its factor in front is deprecated: give `{words}` behind the operands"
        self.report(factors[0][1], message, fix)

    @staticmethod
    def _factors(call: ast.Call, operation: ScaledOperation, is_function: bool) -> list[tuple[str, ast.expr]]:
        """The arguments that are factors, with their names; none where the call is one of today's."""
        places = list(range(len(operation.factors)))
        extra = len(call.args) - operation.operands - is_function
        if is_function:
            places = [0, 2] if operation.leading else [1]
        if extra < 1 or extra > len(places):
            return []
        return [(name, call.args[place]) for name, place in zip(operation.factors, places[:extra])]

    def _is_tensor(self, method: ast.Attribute) -> bool:
        kind = self.semantics.kind(method.value)
        if kind.known:
            return kind.is_tensor
        is_data = isinstance(method.value, ast.Attribute) and method.value.attr in ("data", "grad")
        return is_data or (method.attr.endswith("_") and method.attr in torch_api.TENSOR_ONLY)

    def _factors_behind(self, call: ast.Call, factors: list[tuple[str, ast.expr]]) -> list[TextEdit] | None:
        """The edits that take the factors from where they stand and give them by name; ``None`` among comments."""
        text, start = self.source.text, self.source.end(call.func)
        if "#" in text[start : self.source.end(call)]:
            return None
        edits: list[TextEdit] = []
        for _, factor in factors:
            follower = call.args[call.args.index(factor) + 1]
            edits.append((self._outer_start(call, factor), self._outer_start(call, follower), ""))
        words = ", ".join(f"{name}={self.source.segment(factor)}" for name, factor in factors)
        return [*edits, add_keywords(self.source, call, words)]

    def _outer_start(self, call: ast.Call, argument: ast.expr) -> int:
        """Where an argument starts, with parentheses of its own around it."""
        index = call.args.index(argument)
        text, before = self.source.text, self.source.end(call.args[index - 1] if index else call.func)
        opening = text.index("," if index else "(", before) + 1
        return opening + len(text[opening:]) - len(text[opening:].lstrip())

    def _visit_multinomial(self, call: ast.Call, function: ast.Attribute) -> None:
        kind = self.semantics.kind(function.value)
        if kind.is_tensor or not kind.known:
            message = f"`{ast.unparse(call)}` raises a TypeError since torch 0.4: say how many to draw, `multinomial(1)`"
            self.report(call, message, self.fix("Draw one", [add_keywords(self.source, call, "1")], safe=True))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _short(name: str) -> str:
    """A dotted name as it is usually spelt."""
    for module, usual in (("torch.nn.functional.", "F."), ("torch.nn.", "nn.")):
        if name.startswith(module):
            return usual + name.removeprefix(module)
    return name
