"""Whether code draws random numbers for the items of a data set, and from which generator."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_GIVING = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__getitem__\(")
"""The method in which data sets do their work."""
_OF_ITEMS = re.compile(rb"(?m)^[ \t]{1,40}def[ \t]{1,9}__(?:getitem|call)__\(")
"""The methods in which data sets and transformations do."""
_FUNCTION = rb"^[ \t]{0,40}def[ \t]{1,9}(?P<name>\w{1,99})\((?P<self>self\b)?"
_SEEDING = rb"(?P<seeding>\b(?:random\.seed|manual_seed)\()"
_OF_NO_ITEM = frozenset({b"__init__", b"__len__", b"forward", b"reset_parameters"})
"""What draws for a model, or once."""
_LONGEST = 80
"""So far behind a call's bracket it is looked for a generator of its own."""
_OF_TESTS = re.compile(rb"(?m)^[ \t]{0,40}(?:(?:import|from)[ \t]{1,9}(?:unittest|pytest)\b|def[ \t]{1,9}test_)")
_DRAWING = {
    "random": (
        rb"(?<![\w.])random\.(?:random|randint|randrange|choices?|uniform|sample|shuffle|gauss|normalvariate|betavariate)\("
    ),
    "numpy": (
        rb"(?<![\w.])(?:np|numpy)\.random\.(?:rand|randn|randint|random|choice|uniform|normal|shuffle|permutation|beta|binomial"
        rb"|random_sample|standard_normal|poisson|triangular|gamma|exponential|multivariate_normal)\("
    ),
    "torch": (rb"(?<![\w.])torch\.(?:rand|randn|randint|randperm|rand_like|randn_like|bernoulli|normal|multinomial)\("),
}
_DRAWS = {
    library: re.compile(rb"(?m)" + _FUNCTION + rb"|" + _SEEDING + rb"|(?P<draw>" + draws + rb")")
    for library, draws in _DRAWING.items()
}
"""The functions of a file, and in them what seeds generators, and draws from one."""
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
    """Whether any function that may work on items draws, and no method of such a class seeds a generator."""
    found, function, is_method = False, b"__init__", False
    for each in pattern.finditer(text):
        if each["name"]:
            function, is_method = each["name"], each["self"] is not None
        elif function not in _OF_NO_ITEM:
            if each["seeding"] and is_method:
                return False
            has_own = b"generator" in text[each.end() : each.end() + _LONGEST]
            found = found or (each["draw"] is not None and not has_own)
    return found


DRAWING: dict[str, Callable[[bytes], bool]] = {f"draws of {name}": partial(_draws, name) for name in _DRAWING}
"""The topics, and what has to be so of a file's code that speaks of them."""
