"""Whether code draws random numbers for the items of a data set, and from which generator."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_OF_ITEMS = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}(?:__getitem__|__call__|__iter__|collate\w{0,40})\(")
"""The methods in which data sets and transformations do their work."""
_DRAWS = {
    "random": re.compile(
        rb"(?<![\w.])random\.(?:random|randint|randrange|choices?|uniform|sample|shuffle|gauss|normalvariate|betavariate)\("
        rb"|(?m:^)from[ \t]{1,9}random[ \t]{1,9}import\b"
    ),
    "numpy": re.compile(
        rb"(?<![\w.])(?:np|numpy)\.random\.(?:rand|randn|randint|random|choice|uniform|normal|shuffle|permutation|beta|binomial"
        rb"|random_sample|standard_normal|poisson|triangular|gamma|exponential|multivariate_normal)\("
    ),
    "torch": re.compile(
        rb"(?<![\w.])torch\.(?:rand|randn|randint|randperm|rand_like|randn_like|bernoulli|normal|multinomial)\w{0,9}\("
        rb"|(?<![\w.])(?:transforms|T|tv_transforms|v2|torchvision\.transforms)\.(?:Random\w{1,40}|ColorJitter|AutoAugment|RandAugment)\("
    ),
}


def _draws(pattern: re.Pattern[bytes], text: bytes) -> bool:
    return pattern.search(text) is not None and (b"ransforms." in text or _OF_ITEMS.search(text) is not None)


DRAWING: dict[str, Callable[[bytes], bool]] = {f"draws of {name}": partial(_draws, each) for name, each in _DRAWS.items()}
"""The topics, and what has to be so of a file's code that speaks of them."""
