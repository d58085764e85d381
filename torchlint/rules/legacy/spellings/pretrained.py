"""The functions of torchvision that took ``pretrained``, and the weights that it meant: read from the table."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.semantics.apis.deprecations import deprecation, taking


@dataclass(frozen=True, slots=True)
class Builder:
    """A function that makes a model; the weights that ``pretrained=True`` and ``pretrained_backbone=True`` meant, if any."""

    weights: str | None
    backbone: str | None = None


ANY_CLASSIFIER = Builder("IMAGENET1K_V1")
"""What is taken from `torchvision.models` by a name that the program computes."""


def builders() -> frozenset[str]:
    """The full names of the functions that make models."""
    return frozenset(name for name in taking("pretrained") if _weights(name, "pretrained") != "")


def builder(name: str) -> Builder | None:
    """The builder of that dotted name; ``None`` for what is none, or took no ``pretrained``."""
    if name not in builders():
        return None
    has_backbone = name in taking("pretrained_backbone")
    return Builder(_weights(name, "pretrained"), _weights(name, "pretrained_backbone") if has_backbone else None)


def _weights(name: str, flag: str) -> str | None:
    """The weights that a flag meant: ``None`` where it has never meant any, empty where other arguments tell which."""
    given = deprecation(name, flag).replacement.partition("=")[2]
    return None if given == "None" else given.strip("'")
