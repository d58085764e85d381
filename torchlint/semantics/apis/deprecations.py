"""What torch, torchvision and torchaudio deprecate and have removed, from a table that is generated of their releases, and from
one of what they removed without a word, which was looked up in them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("deprecations.tsv")
_UNANNOUNCED = Path(__file__).with_name("unannounced.tsv")
"""What is imported in public code, and went without having been deprecated: ``removed`` is the first release of those from 1.0
on, or of torchvision from 0.8 on, whose code has it no more.
"""
_EVERYDAY = frozenset(
    {"load", "save", "export", "ignore", "isinstance", "wait", "fork", "annotate", "interface", "freeze", "main"}
)
"""Words in every other file: what is called so, and warns of nothing that is seen, is not worth the look."""

_MENDED_ELSEWHERE = frozenset({"size_average", "reduce", "pretrained", "pretrained_backbone", "use_reentrant"})
"""Parameters that have an analysis of their own: losses, torchvision's models, checkpoints; and so has ``dim`` of softmax."""
_FUNCTIONAL = "torch.nn.functional."
_WORN = frozenset(
    {
        *(
            "DataLoader",
            "DistributedDataParallel",
            "backward",
            "cuda",
            "export",
            "gather",
            "grad",
            "ignore",
            "profile",
            "reduce",
        ),
        "trace",
    }
)
"""Functions and classes that many files use: of those with a deprecated parameter, its name is looked for."""
_TOLD_BY_MODULE = (
    *("torch.jit.", "torch.sparse.", "torch.cuda.nccl.", "torch.cuda.comm.", "torch.nn.parallel.comm."),
    *("torch.optim.lr_scheduler.", "torch.autograd."),
)
"""Modules whose own name is in fewer files than `script`, `outputs`, `FloatTensor` or `step`: it is looked for instead."""
_COMMON = frozenset({"apply", "convert", "load_state_dict", "main", "prepare", "push"})
"""Words in many files, of members that are only used by the name of their owner."""

_SAYS_SO = re.compile(
    r"^(?:[^.:;]|\.(?=\w)){0,120}?\b(?:is|are|will be|is going to be|has been) deprecated\b"
    r"(?:[^.:;,]|\.(?=\d)){0,60}(?:, |\. ?)(?=[Pp]lease |use )"
)
"""What a message begins with that says no more than that it is one of a deprecation."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """What is said of an API by its full name, or of one of its parameters.

    ``when`` is empty where every use is meant. Else it is the use that is: that the parameter is ``given``, is ``missing``, or
    is given the value behind ``=``, or it ``depends`` on what no text shows. ``place`` is where the parameter stands among
    those that are given by position; empty where that cannot be.

    ``since`` and ``removed`` are releases of ``library``, and empty where there was none. ``replacement`` is the full name of
    what to use, or a call in which ``...`` stands for the arguments; empty where no one answer is right. ``found`` says how
    that was found, ``message`` is what the library says, in its words and perhaps not to its end.
    """

    symbol: str
    parameter: str
    when: str
    place: str
    library: str
    since: str
    removed: str
    replacement: str
    found: frozenset[str]
    message: str

    @property
    def advice(self) -> str:
        """What the library says, less that it deprecates it, where that goes before what to use."""
        return _SAYS_SO.sub("", self.message).rstrip(". ")

    @property
    def warns(self) -> bool:
        """Whether using it warns where people see it: what is only documented as deprecated does not."""
        return not self.found <= {"docstring", "quiet warning", "quietly observed"}

    @property
    def only_raises(self) -> bool:
        """Whether it is still there, and raises."""
        return "raises" in self.found

    @property
    def is_unannounced(self) -> bool:
        """Whether it was removed without having been deprecated."""
        return "unannounced" in self.found

    def is_deprecated_for(self, target: tuple[int, int]) -> bool:
        """Whether the oldest torch that code is to run on deprecates it already: what it recommends is there."""
        return bool(self.since) and _torch_of(self.library, self.since) <= target

    def is_removed_for(self, target: tuple[int, int]) -> bool:
        """Whether the oldest torch that code is to run on has it no more."""
        return bool(self.removed) and _torch_of(self.library, self.removed) <= target


@cache
def _lines() -> dict[tuple[str, str], str]:
    """The lines of the table by their first two cells, and the names of the columns by two empty ones.

    Most files use nothing of it, and nothing but those two cells is looked at for them.
    """
    head, *rows = _TABLE.read_text(encoding="utf-8").rstrip("\n").split("\n")
    found = {("", ""): head}
    for row in (*rows, *_UNANNOUNCED.read_text(encoding="utf-8").rstrip("\n").split("\n")[1:]):
        symbol, parameter, _ = row.split("\t", 2)
        found[symbol, parameter] = row
    return found


@cache
def deprecation(symbol: str, parameter: str = "") -> Deprecation:
    """What the table says of an API that is in it, or of one of its parameters."""
    cells = dict(zip(_lines()["", ""].split("\t"), _lines()[symbol, parameter].split("\t"), strict=True))
    said = {each.name: cells[each.name] for each in fields(Deprecation) if each.name != "found"}
    return Deprecation(**said, found=frozenset(cells["found"].split(",")))


@cache
def deprecations() -> dict[tuple[str, str], Deprecation]:
    """The table, by the full name and the parameter, which is empty for what is deprecated as a whole."""
    return {key: deprecation(*key) for key in _lines() if key[0]}


@cache
def symbols() -> frozenset[str]:
    """The full names of what is deprecated, or has been removed, as a whole."""
    found = (symbol for symbol, parameter in _lines() if symbol and not parameter and not _when(symbol, parameter))
    return frozenset(each for each in found if each.rpartition(".")[2] not in _EVERYDAY or deprecation(each).warns)


@cache
def parameters() -> dict[str, tuple[str, ...]]:
    """What is deprecated, or has been removed, of what functions, constructors and methods are given, by their full names."""
    found: dict[str, list[str]] = defaultdict(list)
    for symbol, parameter in _lines():
        is_softmax = parameter == "dim" and symbol.startswith(_FUNCTIONAL)
        if not parameter or parameter in _MENDED_ELSEWHERE or is_softmax or _when(symbol, parameter) == "depends":
            continue
        found[symbol].append(parameter)
    return {symbol: tuple(each) for symbol, each in found.items()}


@cache
def taking(parameter: str) -> frozenset[str]:
    """The full names of what has a row for a parameter."""
    return frozenset(symbol for symbol, each in _lines() if symbol and each == parameter)


def is_member(symbol: str) -> bool:
    """Whether a full name is that of a method or an attribute of a class."""
    return symbol.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def _when(symbol: str, parameter: str) -> str:
    """The third cell of a line."""
    return _lines()[symbol, parameter].split("\t", 3)[2]


@cache
def members() -> dict[str, frozenset[str]]:
    """The full names of the methods and attributes of classes, by their last part."""
    found: dict[str, set[str]] = defaultdict(set)
    for symbol in symbols():
        if is_member(symbol):
            found[symbol.rpartition(".")[2]].add(symbol)
    return {name: frozenset(symbols) for name, symbols in found.items()}


@cache
def modules() -> frozenset[str]:
    """The full names of modules that are deprecated as a whole, with all that is in them; torch itself has none."""
    others = (each for each in symbols() - unannounced() if each.startswith(("torchvision.", "torchaudio.")))
    return frozenset(each for each in others if each.rpartition(".")[2].islower())


@cache
def unannounced() -> frozenset[str]:
    """The full names of what was removed without having been deprecated, modules among it."""
    return frozenset(symbol for symbol in symbols() if deprecation(symbol).is_unannounced)


def words(*, but: Collection[str] = ()) -> tuple[str, ...]:
    """Words of which a file that uses any of it has one, ``but`` of what is in these names."""
    found = {_word(symbol) for symbol in symbols() if symbol not in but}
    for symbol, names in parameters().items():
        is_worn = symbol.rpartition(".")[2] in _WORN and not symbol.startswith(_TOLD_BY_MODULE)
        found |= set(names) if is_worn else {_word(symbol)}
    return tuple(sorted(found))


def _word(symbol: str) -> str:
    """The last part of a name, or the one before where that is in every other file; of other libraries their name."""
    parts = symbol.split(".")
    for module in _TOLD_BY_MODULE:
        if symbol.startswith(module):
            return module.split(".")[-2]
    if parts[0] != "torch":
        return parts[0]
    return parts[-2] if parts[-1] in _COMMON else parts[-1]


def _torch_of(library: str, version: str) -> tuple[int, int]:
    """The release of torch that a release of a library belongs to."""
    major, minor = (int(part) for part in version.split(".")[:2])
    match library:
        case "torchvision":  # 0.13 with torch 1.12, 0.15 with 2.0, 0.28 with 2.13
            return (2, minor - 15) if minor >= 15 else (1, minor - 1)
        case "torchaudio" if major == 0:  # 0.13 with torch 1.13
            return 1, minor
    return major, minor
