"""Losses that are told by ``size_average`` and ``reduce`` what to do with the losses of single elements."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import FUNCTIONS

Node = TypeVar("Node")

_PAIR, _TRIPLE = ("input", "target"), ("input1", "input2", "target")
_FLAGS = ("size_average", "reduce", "reduction")
_CLASS_FLAGS = ("size_average", "ignore_index", "reduce", "reduction")

LOSSES: dict[str, tuple[str, ...]] = {
    "torch.nn.functional.binary_cross_entropy": (*_PAIR, "weight", *_FLAGS),
    "torch.nn.functional.binary_cross_entropy_with_logits": (*_PAIR, "weight", *_FLAGS, "pos_weight"),
    "torch.nn.functional.cosine_embedding_loss": (*_TRIPLE, "margin", *_FLAGS),
    "torch.nn.functional.cross_entropy": (*_PAIR, "weight", *_CLASS_FLAGS),
    "torch.nn.functional.hinge_embedding_loss": (*_PAIR, "margin", *_FLAGS),
    "torch.nn.functional.kl_div": (*_PAIR, *_FLAGS),
    "torch.nn.functional.l1_loss": (*_PAIR, *_FLAGS),
    "torch.nn.functional.margin_ranking_loss": (*_TRIPLE, "margin", *_FLAGS),
    "torch.nn.functional.mse_loss": (*_PAIR, *_FLAGS),
    "torch.nn.functional.multi_margin_loss": (*_PAIR, "p", "margin", "weight", *_FLAGS),
    "torch.nn.functional.multilabel_margin_loss": (*_PAIR, *_FLAGS),
    "torch.nn.functional.multilabel_soft_margin_loss": (*_PAIR, "weight", *_FLAGS),
    "torch.nn.functional.nll_loss": (*_PAIR, "weight", *_CLASS_FLAGS),
    "torch.nn.functional.nll_loss2d": (*_PAIR, "weight", *_CLASS_FLAGS),
    "torch.nn.functional.poisson_nll_loss": (*_PAIR, "log_input", "full", "size_average", "eps", "reduce", "reduction"),
    "torch.nn.functional.smooth_l1_loss": (*_PAIR, *_FLAGS),
    "torch.nn.functional.soft_margin_loss": (*_PAIR, *_FLAGS),
    "torch.nn.functional.triplet_margin_loss": (
        *("anchor", "positive", "negative", "margin", "p", "eps", "swap"),
        *_FLAGS,
    ),
    "torch.nn.BCELoss": ("weight", *_FLAGS),
    "torch.nn.BCEWithLogitsLoss": ("weight", *_FLAGS, "pos_weight"),
    "torch.nn.CosineEmbeddingLoss": ("margin", *_FLAGS),
    "torch.nn.CrossEntropyLoss": ("weight", *_CLASS_FLAGS),
    "torch.nn.HingeEmbeddingLoss": ("margin", *_FLAGS),
    "torch.nn.KLDivLoss": _FLAGS,
    "torch.nn.L1Loss": _FLAGS,
    "torch.nn.MSELoss": _FLAGS,
    "torch.nn.MarginRankingLoss": ("margin", *_FLAGS),
    "torch.nn.MultiLabelMarginLoss": _FLAGS,
    "torch.nn.MultiLabelSoftMarginLoss": ("weight", *_FLAGS),
    "torch.nn.MultiMarginLoss": ("p", "margin", "weight", *_FLAGS),
    "torch.nn.NLLLoss": ("weight", *_CLASS_FLAGS),
    "torch.nn.NLLLoss2d": ("weight", *_CLASS_FLAGS),
    "torch.nn.PoissonNLLLoss": ("log_input", "full", "size_average", "eps", "reduce", "reduction"),
    "torch.nn.SmoothL1Loss": _FLAGS,
    "torch.nn.SoftMarginLoss": _FLAGS,
    "torch.nn.TripletMarginLoss": ("margin", "p", "eps", "swap", *_FLAGS),
    "torch.nn.modules.loss._Loss": _FLAGS,
    "torch.nn.modules.loss._WeightedLoss": ("weight", *_FLAGS),
}
"""The losses of torch that took ``size_average`` and ``reduce``, with their parameters in order. Read from torch 2.13."""
FLAGS = ("size_average", "reduce")
LOSS_WORDS = frozenset(name.rpartition(".")[2] for name in LOSSES)
"""Of these a file with such a call says one."""


@dataclass(frozen=True, eq=False, slots=True)
class Flag(Generic[Node]):
    """One of the flags as a call gives it, by name or by its place, and whether it may well be None where it is no constant."""

    name: str
    value: Node
    may_be_none: bool


@dataclass(frozen=True, eq=False, slots=True)
class FlaggedLoss(Generic[Node]):
    """A loss that is given flags, in the order of the text; ``parameters`` are the names of its positional arguments."""

    flags: tuple[Flag[Node], ...]
    parameters: tuple[str, ...]


class LossFlags:
    """Finds the calls of losses that give flags."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def given(self) -> dict[ast.Call, FlaggedLoss[ast.expr]]:
        """The calls that make, or compute, a loss and give it a flag that is not None."""
        calls = self._semantics.facts.calls
        candidates = [*self._semantics.of(Spellings).calls({*LOSS_WORDS, "partial"}), *calls.get("__init__", ())]
        found = ((call, self._flagged(call)) for call in candidates if call.args or call.keywords)
        return {call: flagged for call, flagged in found if flagged is not None}

    def is_plain_loss(self, node: ast.expr) -> bool:
        """Whether a value is one of torch's own losses, and of no class of the file."""
        kind = self._semantics.kind(node)
        return kind.type is Type.MODULE and kind.name in LOSSES and kind.definition is None

    def _flagged(self, call: ast.Call) -> FlaggedLoss[ast.expr] | None:
        loss, skipped = self._loss(call)
        if loss is None:
            return None
        parameters = (*("",) * skipped, *LOSSES[loss])
        values = [(word.arg, word.value) for word in call.keywords if word.arg in FLAGS]
        for name, argument in zip(parameters, call.args):
            if isinstance(argument, ast.Starred):
                break
            if name in FLAGS:
                values.append((name, argument))
        if all(isinstance(value, ast.Constant) and value.value is None for _, value in values):
            return None
        values.sort(key=lambda item: (item[1].lineno, item[1].col_offset))
        return FlaggedLoss(tuple(Flag(name or "", value, self._may_be_none(value)) for name, value in values), parameters)

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

    def _may_be_none(self, flag: ast.expr) -> bool:
        """Whether a flag is a parameter of the function around it that defaults to None."""
        for binding in self._semantics.bindings.reaching(flag) if isinstance(flag, ast.Name) else ():
            function = binding.scope.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
                default = self._semantics.facts.default(function, binding.node)
                return isinstance(default, ast.Constant) and default.value is None
        return False
