"""The kinds of what imports give."""

from __future__ import annotations

from torchlint.semantics import torch_api
from torchlint.semantics.kinds.kind import NUMBER, UNKNOWN, Kind, Type

_FOREIGN = (
    "torchvision.datasets",
    "torchtext",
    "argparse",
    "xml",
    "requests",
    "urllib",
    "pandas",
    "collections",
    "json",
    "tensorflow",
)


def api_kind(name: str) -> Kind:
    """The kind of something that an import gives, by its dotted name."""
    if name in torch_api.MODULES or name in torch_api.OPTIMIZERS or name in torch_api.SCHEDULERS:
        return Kind(Type.CLASS, name=name)
    if name in ("torch.pi", "torch.inf", "torch.nan", "numpy.pi", "numpy.inf", "math.pi"):
        return NUMBER
    if name.startswith(_FOREIGN):
        return Kind(Type.FUNCTION, name=name)
    if name.startswith(("torch.", "numpy.")):
        return Kind(Type.FUNCTION, name=name)
    return UNKNOWN
