"""Programs of two files, with classes and loops, made from a seed: what safe fixes are tried on by the ten thousand.

A program has classes and functions (*parts*), some in ``main.py`` and some in ``pieces.py``, which ``main.py`` imports;
statements that use them; and prints, last of all, what it has computed: weights, gradients, values that were kept, types.
"""

from __future__ import annotations

import random
import re

from forked import MAIN
from grammar import Choice
from vocabulary import ENDINGS, EXPRESSIONS, GENERAL, TOPICS, Part
from writer import Writer

PIECES = "pieces.py"

_IMPORTS = """\
import collections
import contextlib
import copy
import dataclasses
import functools
import math
import time
import types
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
"""
_DATA = """\
criterion = nn.MSELoss()
hooked = []
batches = [(torch.randn(3, 3), torch.randn(3, 3)) for _ in range(3)]
"""
_LOADED = """\
criterion = nn.MSELoss()
hooked = []
batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(9, 3), torch.randn(9, 3)), batch_size=3)
"""
_SETUP = """\
model = nn.Linear(3, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(3, 3)
w = nn.Parameter(torch.randn(3, 3))
"""
_WEIGHTED = [*TOPICS, "sums", "sums", "evaluation"]
"""The topics, more often those whose phrases a rule seldom finds something in."""
_SCOPE = {"model": ["model"], "opt": ["opt"], "plain": ["x"], "leaf": ["w"]}


def program(seed: int) -> dict[str, str]:
    """The files of the program with this number."""
    attempt = 0
    while True:
        choice = Choice(random.Random(f"{seed} {attempt}").randrange)
        files = _program(choice)
        try:
            for text in files.values():
                compile(text, MAIN, "exec")
            return files
        except SyntaxError:  # a name that is global after it was assigned, and the like
            attempt += 1


def _program(choice: Choice) -> dict[str, str]:
    topics = [TOPICS[name] for name in dict.fromkeys(choice.of(_WEIGHTED) for _ in range(2))]
    here, there = _placed(_chosen([GENERAL.parts, *(topic.parts for topic in topics)], choice), choice)
    everywhere = frozenset(part.name for part in (*here, *there))
    phrases = [GENERAL.phrases, *(topic.phrases for topic in topics), *(topic.phrases for topic in topics)]
    of_parts = tuple(phrase for group in phrases[: len(topics) + 1] for phrase in group if _mentions(phrase, everywhere))
    phrases += [of_parts] if of_parts else []
    pieces = _written(there, Writer(choice, phrases, EXPRESSIONS, everywhere))
    writer = Writer(choice, phrases, EXPRESSIONS, everywhere)
    prefix = choice.of(("", "pieces.", "lib."))
    for part in there:
        writer.scope[part.name] = [prefix + part.name]
    own = _written(here, writer)
    writer.scope |= {kind: list(known) for kind, known in _SCOPE.items()}
    body = _framed([*writer.block(choice.between(3, 6)), *_endings(writer, choice)], choice)
    pieces, own = _used(pieces, own, body)
    data = choice.of((_DATA, _LOADED, "from pieces import batches, criterion, hooked\n" if pieces else _DATA))
    main = f"{_import(pieces, prefix)}\ntorch.manual_seed({choice.between(0, 9)})\n{data}\n{_joined(own)}\n{_SETUP}{body}"
    files = {MAIN: _with_imports(main)}
    if pieces:
        files[PIECES] = _with_imports(f"\n{_DATA}\n\n{_joined(pieces)}")
    return files


def _mentions(phrase: str, parts: frozenset[str]) -> bool:
    """Whether a phrase uses one of these parts."""
    return not parts.isdisjoint(re.findall(r"<(\w+)>", phrase))


def _with_imports(text: str) -> str:
    """A file below the imports of what it names."""
    words = set(re.findall(r"\w+", text))
    return "".join(f"{line}\n" for line in _IMPORTS.splitlines() if not line or line.split()[-1] in words) + text


def _used(pieces: dict[str, str], own: dict[str, str], body: str) -> tuple[dict[str, str], dict[str, str]]:
    """The parts in either file that the program comes to use."""
    used: set[str] = set()
    pending = [body]
    while pending:
        words = set(re.findall(r"\w+", pending.pop())) - used
        found = words & (pieces.keys() | own.keys())
        used |= found
        pending += [(pieces | own)[name] for name in found]
    kept = [{name: text for name, text in parts.items() if name in used} for parts in (pieces, own)]
    return kept[0], kept[1]


def _joined(parts: dict[str, str]) -> str:
    return "".join(f"\n{text}\n\n" for text in parts.values())


def _chosen(groups: list[tuple[Part, ...]], choice: Choice) -> list[Part]:
    """The parts of a program, those that others are derived from before them."""
    every = {part.name: part for group in groups for part in group}
    names = {part.name for group in groups for part in group if choice.one_in(2)}
    names |= {base for name in names if (base := every[name].base)}
    return [part for name, part in every.items() if name in names]


def _placed(parts: list[Part], choice: Choice) -> tuple[list[Part], list[Part]]:
    """The parts that stand in ``main.py``, and those that it imports; a class stands where its base does."""
    imported: dict[str, bool] = {}
    for part in parts:
        imported[part.name] = imported[part.base] if part.base else choice.one_in(2)
    return [part for part in parts if not imported[part.name]], [part for part in parts if imported[part.name]]


def _import(pieces: dict[str, str], prefix: str) -> str:
    """How the parts of the other file are imported, whose names ``prefix`` stands in front of."""
    if not pieces:
        return ""
    return {"": f"from pieces import {', '.join(pieces)}\n", "pieces.": "import pieces\n", "lib.": "import pieces as lib\n"}[
        prefix
    ]


def _written(parts: list[Part], writer: Writer) -> dict[str, str]:
    """The texts of the parts that stand in one file, which know one another."""
    texts: dict[str, str] = {}
    for part in parts:
        texts[part.name] = "\n".join(writer.filled(part.text))
        writer.scope[part.name] = [part.name]
    return texts


def _endings(writer: Writer, choice: Choice) -> list[str]:
    """The lines that print what is there in the end; graphs are freed once."""
    lines: list[str] = []
    for kind in [*ENDINGS]:
        for name in [name for name in dict.fromkeys(writer.scope.get(kind, [])) if name.isidentifier()]:
            lines.append(choice.of(ENDINGS[kind]).replace("<name>", name))
    backward = [line for line in lines if line.endswith("backward()")]
    kept = backward[:1] if choice.one_in(2) else []
    lines = [*kept, *(line for line in lines if line not in backward)]
    return lines


def _framed(body: list[str], choice: Choice) -> str:
    """The statements of the program, at its top level or in a function."""
    if choice.one_in(3):
        inner = "".join(f"    {line}\n" if line else "\n" for line in body)
        last = "main(model, opt, x, w)\nprint(model.weight.tolist(), w.tolist(), x.tolist())\n"
        return f"\n\ndef main(model, opt, x, w):\n{inner}\n\n{last}"
    return "".join(f"{line}\n" for line in body)
