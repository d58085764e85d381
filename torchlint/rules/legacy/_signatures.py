"""What torch used to call its functions and their parameters, and what it calls them now. Checked by running torch 2.13."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

INITIALIZERS = (
    *("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal"),
    *("kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"),
)
"""Functions of `torch.nn.init` that have an underscore at the end now."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a function is called now, why the old name is to go, and the keywords that keep the new one doing the same."""

    new: str
    why: str
    keywords: str = ""


_WARNS = "is deprecated and warns at every call"
_REMOVED = "was removed"

RENAMED = MappingProxyType(
    {
        **{f"torch.nn.init.{name}": Renamed(f"torch.nn.init.{name}_", _WARNS) for name in INITIALIZERS},
        "torch.nn.utils.clip_grad_norm": Renamed("torch.nn.utils.clip_grad_norm_", _WARNS),
        "torch.nn.utils.clip_grad.clip_grad_norm": Renamed("torch.nn.utils.clip_grad.clip_grad_norm_", _WARNS),
        "torch.nn.functional.sigmoid": Renamed("torch.sigmoid", "was deprecated by torch 0.4.1 to 1.13"),
        "torch.nn.functional.tanh": Renamed("torch.tanh", "was deprecated by torch 0.4.1 to 1.13"),
        "torch.nn.functional.upsample": Renamed("torch.nn.functional.interpolate", _WARNS),
        "torch.nn.functional.upsample_nearest": Renamed("torch.nn.functional.interpolate", _WARNS),
        "torch.nn.functional.upsample_bilinear": Renamed(
            "torch.nn.functional.interpolate", _WARNS, 'mode="bilinear", align_corners=True'
        ),
        "torch.nn.functional.nll_loss2d": Renamed("torch.nn.functional.nll_loss", _REMOVED),
        "torch.nn.NLLLoss2d": Renamed("torch.nn.NLLLoss", _WARNS),
    }
)
"""Functions and classes by their old names."""

_PAIR, _TRIPLE = ("input", "target"), ("input1", "input2", "target")
_FLAGS = ("size_average", "reduce", "reduction")
_CLASS_FLAGS = ("size_average", "ignore_index", "reduce", "reduction")

LOSSES = MappingProxyType(
    {
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
)
"""The losses that took ``size_average`` and ``reduce``, with their parameters in order."""

SOFTMAX_FUNCTIONS = frozenset({f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin")})
SOFTMAX_MODULES = frozenset({"torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin"})
"""What picks a dimension itself where none is given."""


def implicit_dim(rank: int) -> int:
    """The dimension that softmax picks for a tensor with so many, as `torch.nn.functional._get_softmax_dim` does."""
    return 0 if rank in (0, 1, 3) else 1


@dataclass(frozen=True, slots=True)
class ScaledOperation:
    """An operation that used to take its factors in front of its operands, and takes them as keywords now."""

    factors: tuple[str, ...]
    operands: int
    leading: bool = False
    """Whether the function takes the first factor even before the input: ``torch.addmm(beta, input, alpha, mat1, mat2)``."""


_ADDED = ScaledOperation(("alpha",), 1)
_COMBINED = ScaledOperation(("value",), 2)
_PRODUCT = ScaledOperation(("beta", "alpha"), 2, leading=True)
SCALED_OPERATIONS = MappingProxyType(
    {
        **dict.fromkeys(("add", "sub"), _ADDED),
        **dict.fromkeys(("addcmul", "addcdiv"), _COMBINED),
        **dict.fromkeys(("addmm", "addmv", "addr", "baddbmm", "addbmm"), _PRODUCT),
    }
)
"""By the names of the functions and methods; methods also have a form that ends in an underscore."""
