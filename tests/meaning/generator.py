"""Programs of two files, with classes and loops, made from a seed: what safe fixes are tried on by the ten thousand.

A program has classes and functions (*parts*), some in ``main.py`` and some in ``pieces.py``, which ``main.py`` imports;
statements that use them; and prints, last of all, what it has computed: weights, gradients, values that were kept, types.
"""

from __future__ import annotations

import random

from forked import MAIN
from grammar import Choice
from vocabulary import ENDINGS, EXPRESSIONS, GENERAL, TOPICS, Part
from writer import Writer

PIECES = "pieces.py"

_IMPORTS = """\
import collections
import copy
import functools
import math
import time
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
    phrases = [GENERAL.phrases, *(topic.phrases for topic in topics), *(topic.phrases for topic in topics)]
    everywhere = frozenset(part.name for part in (*here, *there))
    pieces = _written(there, Writer(choice, phrases, EXPRESSIONS, everywhere))
    writer = Writer(choice, phrases, EXPRESSIONS, everywhere)
    how, prefix = _import(there, choice)
    for part in there:
        writer.scope[part.name] = [prefix + part.name]
    own = _written(here, writer)
    writer.scope |= {kind: list(known) for kind, known in _SCOPE.items()}
    imported_data = bool(there) and choice.one_in(4)
    body = [*writer.block(choice.between(3, 6)), *_endings(writer, choice)]
    text = _IMPORTS + how + f"\ntorch.manual_seed({choice.between(0, 9)})\n"
    text += "from pieces import batches, criterion, hooked\n" if imported_data else choice.of((_DATA, _LOADED))
    text += f"{own}\n\n{_SETUP}" + _framed(body, choice)
    files = {MAIN: text}
    if there:
        files[PIECES] = f"{_IMPORTS}\n{_DATA}\n\n{pieces}\n"
    return files


def _chosen(groups: list[tuple[Part, ...]], choice: Choice) -> list[Part]:
    """The parts of a program, those that others are derived from before them."""
    every = {part.name: part for group in groups for part in group}
    names = {part.name for group in groups for part in group if choice.one_in(4)}
    names |= {base for name in names if (base := every[name].base)}
    return [part for name, part in every.items() if name in names]


def _placed(parts: list[Part], choice: Choice) -> tuple[list[Part], list[Part]]:
    """The parts that stand in ``main.py``, and those that it imports; a class stands where its base does."""
    imported: dict[str, bool] = {}
    for part in parts:
        imported[part.name] = imported[part.base] if part.base else choice.one_in(2)
    return [part for part in parts if not imported[part.name]], [part for part in parts if imported[part.name]]


def _import(parts: list[Part], choice: Choice) -> tuple[str, str]:
    """How the parts of the other file are imported, and what stands in front of their names."""
    if not parts:
        return "", ""
    names = ", ".join(part.name for part in parts)
    return choice.of(
        ((f"from pieces import {names}\n", ""), ("import pieces\n", "pieces."), ("import pieces as lib\n", "lib."))
    )


def _written(parts: list[Part], writer: Writer) -> str:
    """The text of the parts that stand in one file, which know one another."""
    texts = []
    for part in parts:
        texts.append("\n".join(writer.filled(part.text)))
        writer.scope[part.name] = [part.name]
    return "\n\n\n".join(texts)


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
