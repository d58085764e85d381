"""Whether code draws random numbers for the items of a data set, and from which generator."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_GIVING = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__getitem__\(")
"""The method in which data sets do their work."""
_OF_ITEMS = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__(?:getitem|call)__\(")
"""The methods in which data sets and transformations do."""
_OF_TESTS = re.compile(rb"(?m)^[ \t]{0,40}(?:(?:import|from)[ \t]{1,9}(?:unittest|pytest)\b|def[ \t]{1,9}test_)")
_DRAWS = {
    "random": re.compile(
        rb"(?<![\w.])random\.(?:random|randint|randrange|choices?|uniform|sample|shuffle|gauss|normalvariate|betavariate)\("
    ),
    "numpy": re.compile(
        rb"(?<![\w.])(?:np|numpy)\.random\.(?:rand|randn|randint|random|choice|uniform|normal|shuffle|permutation|beta|binomial"
        rb"|random_sample|standard_normal|poisson|triangular|gamma|exponential|multivariate_normal)\("
    ),
    "torch": re.compile(
        rb"(?<![\w.])torch\.(?:rand|randn|randint|randperm|rand_like|randn_like|bernoulli|normal|multinomial)\("
    ),
}
_TRANSFORMATIONS = re.compile(
    rb"(?<![\w.])(?:transforms|T|tv_transforms|v2|torchvision\.transforms)\."
    rb"(?:Random\w{1,40}|ColorJitter|AutoAugment|RandAugment)\("
)
"""The transformations that draw from torch's generator, for the items of whatever data set."""


def _draws(library: str, text: bytes) -> bool:
    if _OF_TESTS.search(text):
        return False
    if library == "torch" and _TRANSFORMATIONS.search(text):
        return True
    methods = _GIVING if library == "torch" else _OF_ITEMS
    return _DRAWS[library].search(text) is not None and methods.search(text) is not None


DRAWING: dict[str, Callable[[bytes], bool]] = {f"draws of {name}": partial(_draws, name) for name in _DRAWS}
"""The topics, and what has to be so of a file's code that speaks of them."""
