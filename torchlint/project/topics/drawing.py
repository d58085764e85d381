"""Whether code draws random numbers for the items of a data set, and from which generator."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import partial

_GIVING = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__getitem__\(")
"""The method in which data sets do their work."""
_OF_ITEMS = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__(?:getitem|call)__\(")
"""The methods in which data sets and transformations do."""
_FUNCTIONS = re.compile(rb"(?m)^[ \t]{0,40}def[ \t]{1,9}(\w{1,99})\((self\b)?")
_SEEDING = re.compile(rb"\b(?:random\.seed|manual_seed)\(")
_OF_NO_ITEM = frozenset({b"__init__", b"__len__", b"forward", b"reset_parameters"})
"""What draws for a model, or once."""
_LONGEST = 80
"""So far behind a call's bracket it is looked for a generator of its own."""
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
    return methods.search(text) is not None and _draws_in_functions(_DRAWS[library], text)


def _draws_in_functions(pattern: re.Pattern[bytes], text: bytes) -> bool:
    """Whether any function that may work on items draws, and no method seeds a generator."""
    functions = list(_FUNCTIONS.finditer(text))
    starts = [each.start() for each in functions]

    def found(searched: re.Pattern[bytes]) -> Iterator[tuple[re.Match[bytes], re.Match[bytes]]]:
        for each in searched.finditer(text):
            number = bisect(starts, each.start())
            if number and functions[number - 1][1] not in _OF_NO_ITEM:
                yield each, functions[number - 1]

    if any(function[2] for _, function in found(_SEEDING)):
        return False
    return any(b"generator" not in text[each.end() : each.end() + _LONGEST] for each, _ in found(pattern))


DRAWING: dict[str, Callable[[bytes], bool]] = {f"draws of {name}": partial(_draws, name) for name in _DRAWS}
"""The topics, and what has to be so of a file's code that speaks of them."""
