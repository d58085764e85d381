"""Losses that are told by ``size_average`` and ``reduce`` what to do with the losses of single elements."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.fixes.rewriting import TextEdit
from torchlint.rules.arguments import is_open_ended
from torchlint.rules.legacy._signatures import LOSSES
from torchlint.text.quotes import usual_quote
from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.text.source import Source

FLAGS = ("size_average", "reduce")


@dataclass(frozen=True, eq=False, slots=True)
class LegacyFlag:
    """One of the flags as a call gives it: by name, or by its place among the arguments."""

    name: str
    value: ast.expr
    node: ast.keyword | ast.expr

    @property
    def is_none(self) -> bool:
        """Whether the flag says nothing."""
        return isinstance(self.value, ast.Constant) and self.value.value is None


@dataclass(frozen=True, eq=False, slots=True)
class LossCall:
    """A call of a loss that gives legacy flags; ``parameters`` are the names of its positional arguments."""

    call: ast.Call
    loss: str
    flags: tuple[LegacyFlag, ...]
    parameters: tuple[str, ...]


class Reductions:
    """Finds such calls in one file, and says what they mean."""

    def __init__(self, source: Source, semantics: Semantics) -> None:
        self._source = source
        self._semantics = semantics

    def legacy(self, call: ast.Call) -> LossCall | None:
        """What a call says by legacy flags; ``None`` for any other call."""
        loss, skipped = self._loss(call)
        if loss is None:
            return None
        parameters = (*("",) * skipped, *LOSSES[loss])
        flags = [LegacyFlag(word.arg, word.value, word) for word in call.keywords if word.arg in FLAGS]
        for name, argument in zip(parameters, call.args):
            if isinstance(argument, ast.Starred):
                break
            if name in FLAGS:
                flags.append(LegacyFlag(name, argument, argument))
        if not flags or all(flag.is_none for flag in flags):
            return None
        return LossCall(call, loss, tuple(sorted(flags, key=lambda flag: self._source.start(flag.node))), parameters)

    def _loss(self, call: ast.Call) -> tuple[str | None, int]:
        """The loss that is called, and how many arguments stand before its own."""
        name = self._semantics.qualified_name(call.func)
        if name in LOSSES:
            return name, 0
        if name == "functools.partial" and call.args:
            name = self._semantics.qualified_name(call.args[0])
            return (name, 1) if name in LOSSES else (None, 0)
        match call.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                return self._base(call), 0
            case ast.Attribute(value=base, attr="__init__"):
                name = self._semantics.qualified_name(base)
                return (name, 1) if name in LOSSES else (None, 0)
        return None, 0

    def _base(self, call: ast.Call) -> str | None:
        """The loss that the class around a ``super().__init__()`` is derived from."""
        owner = self._semantics.tree.enclosing_class(call)
        names = [self._semantics.qualified_name(base) for base in owner.bases] if owner is not None else []
        return names[0] if names and names[0] in LOSSES else None

    # --- what it means -----------------------------------------------------------------------------------------------

    def reduction(self, legacy: LossCall) -> str | None:
        """The ``reduction`` that the flags stand for; ``None`` where they leave it to whoever calls."""
        if any(word.arg == "reduction" for word in legacy.call.keywords) or is_open_ended(legacy.call):
            return None
        if len(legacy.call.args) > legacy.parameters.index("reduction"):
            return None
        values = {flag.name: flag.value for flag in legacy.flags}
        quote = usual_quote(self._source)
        average, reduce = values.get("size_average"), values.get("reduce")
        if isinstance(reduce, ast.Constant) and reduce.value is not None and not reduce.value:
            return f"{quote}none{quote}"
        summed = self._chosen(average, f"{quote}mean{quote}", f"{quote}sum{quote}")
        if reduce is None or isinstance(reduce, ast.Constant):
            return summed
        return self._chosen(reduce, f"({summed})" if " if " in summed else summed, f"{quote}none{quote}")

    def _chosen(self, flag: ast.expr | None, if_true: str, if_false: str) -> str:
        """The text of what a flag chooses; absent and None count as true."""
        if flag is None or isinstance(flag, ast.Constant):
            return if_true if flag is None or flag.value is None or flag.value else if_false
        text = self._source.segment(flag)
        if "\n" in text or "\r" in text:
            text = ast.unparse(flag)
        if isinstance(flag, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
            text = f"({text})"
        if self._may_be_none(flag):
            return f"{if_false} if {text} is False else {if_true}"
        return f"{if_true} if {text} else {if_false}"

    def _may_be_none(self, flag: ast.expr) -> bool:
        """Whether a flag is a parameter of the function around it that defaults to None."""
        for binding in self._semantics.bindings.reaching(flag) if isinstance(flag, ast.Name) else ():
            function = binding.scope.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
                default = self._semantics.facts.default(function, binding.node)
                return isinstance(default, ast.Constant) and default.value is None
        return False

    def edits(self, legacy: LossCall, reduction: str) -> list[TextEdit] | None:
        """The edits that say ``reduction`` in the place of the first flag; ``None`` where comments are in the way."""
        first, *others = legacy.flags
        edits: list[TextEdit] = [(self._source.start(first.node), self._source.end(first.node), f"reduction={reduction}")]
        if first.node in legacy.call.args:
            place = legacy.call.args.index(first.node)
            for name, argument in list(zip(legacy.parameters, legacy.call.args))[place + 1 :]:
                if name not in FLAGS:
                    start = self._source.start(argument)
                    edits.append((start, start, f"{name}="))
        for flag in others:
            start, end = self._end_of_previous(legacy.call, flag.node), self._source.end(flag.node)
            if "#" in self._source.text[start:end]:
                return None
            edits.append((start, end, ""))
        return edits

    def _end_of_previous(self, call: ast.Call, node: ast.keyword | ast.expr) -> int:
        parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        return max(self._source.end(part) for part in parts if self._source.start(part) < self._source.start(node))
