"""Moves of tensors to where they are already."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.devices.moves.earlier_moves import EarlierMoves

BEFORE = """
import torch
import torch.nn.functional as F

def f(x: torch.Tensor, given, device):
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("y = x.cpu()", "«y.cpu()»"), True),
        (("y = F.normalize(x, dim=1).to('cpu')", "z = torch.mm(y, y.t()) / given.heat", "«z.to('cpu')»"), True),
        (("x = x.to(device)", "«x.to(device)»"), True),
        (("x = x.cuda()", "x = x.float()", "«x.cuda()»"), True),
        (("«x.cpu().float().cpu()»",), True),
        (("«x.cpu()»",), False),
        (("x = x.cuda()", "«x.cpu()»"), False),
        (("x = x.to(device)", "device = given", "«x.to(device)»"), False),
        (("x = x.cpu()", "if given:", "    x = x.cuda()", "«x.cpu()»"), False),
        (("y = x.cpu()", "«x.cpu()»"), False),
        (("x = x.cuda()", "x = x.to(given)", "«x.cuda()»"), False),
        (("y = x.cpu()", "w = torch.ones(3).cuda()", "z = y.sum() * w", "«z.cpu()»"), False),
        (("y = x.cuda()", "for _ in given:", "    y = y + torch.zeros(2)", "«y.cuda()»"), False),
        (("y = x.cuda()", "y = given(y)", "«y.cuda()»"), False),
        (("y = x.cpu()", "«y.to('cpu', torch.float64)»"), False),
        (("for y in x.cpu():", "    «y.cpu()»"), False),
        (("dtype = given", "y = x.to(dtype)", "«y.to(dtype)»"), False),
    ],
)
def test_a_move_to_where_the_tensor_is_does_nothing(lines: tuple[str, ...], expected: bool) -> None:
    semantics, [move] = marked(BEFORE + "".join(f"    {line}\n" for line in lines))
    assert isinstance(move, ast.Call)
    assert semantics.of(EarlierMoves).make_needless(move) is expected
