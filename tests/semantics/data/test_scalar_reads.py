"""Where a number is meant and a tensor of one number stands, and whether the number itself comes to the same."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.meant_numbers import MeantNumber, MeantNumbers

HEADER = """\
import math
import torch
import torch.nn.functional as F

def f(x, y, i, writer, meter, total, q):
    loss = F.cross_entropy(x, y)
    losses, running, n = [], 0, 3
"""


def meant(statement: str) -> MeantNumber[ast.expr] | None:
    """What the marked ``x.data`` of a statement is read for."""
    semantics, [data] = marked(HEADER + "    " + statement)
    assert isinstance(data, ast.Attribute)
    return semantics.of(MeantNumbers).of(data)


@pytest.mark.parametrize(
    ("statement", "read", "tensor"),
    [
        ("print('%.3f' % «loss.data»)", "loss.data", "loss"),
        ("print('%g: %.3f' % (i, «loss.data»))", "loss.data", "loss"),
        ("print(f'{«loss.data»:.3f}')", "loss.data", "loss"),
        ("print(f'{«loss.cpu().data»}')", "loss.cpu().data", "loss"),
        ("print('{} {:.3f}'.format(i, «loss.data».cpu().numpy()))", "loss.data.cpu().numpy()", "loss"),
        ("print('{loss:.3f}'.format(loss=-«loss.data»))", "loss.data", "loss"),
        ("math.exp(«loss.data»)", "loss.data", "loss"),
        ("return «loss.data».tolist()", "loss.data.tolist()", "loss"),
        ("return «loss.data».numpy().item()", "loss.data.numpy().item()", "loss"),
    ],
)
def test_it_comes_to_the_same(statement: str, read: str, tensor: str) -> None:
    found = meant(statement)
    assert found is not None
    assert (ast.unparse(found.read), ast.unparse(found.tensor)) == (read, tensor)
    assert found.alike.is_certain


@pytest.mark.parametrize(
    ("statement", "doubt"),
    [
        ("print(«loss.data»)", "a number is shown otherwise than a tensor"),
        ("print('%s' % «loss.data»)", "a number is shown otherwise than a tensor"),
        ("print(f'{«loss.data»!r}')", "a number is shown otherwise than a tensor"),
        ("print('{!s}'.format(«loss.data»))", "a number is shown otherwise than a tensor"),
        ("print('%f' % («loss.data» / n))", "computed with as a number, it is rounded otherwise"),
        ("losses.append(«loss.data»)", "code may want a tensor here"),
        ("running += «loss.data» * n", "code may want a tensor here"),
        ("meter.update(«loss.data», n)", "code may want a tensor here"),
        ("writer.add_scalar('loss', «loss.data», i)", "code may want a tensor here"),
        ("return «loss.data».numpy()", "a number has more digits than an array of it"),
        ("mean = «loss.data».numpy()", "a number has more digits than an array of it"),
    ],
)
def test_it_may_make_a_difference(statement: str, doubt: str) -> None:
    found = meant(statement)
    assert found is not None
    assert found.alike.doubt == doubt


@pytest.mark.parametrize(
    "statement",
    [
        "return «loss.data»",
        "return «x.data».numpy()",
        "print('%.3f' % «x.data»)",
        "return «loss.data».numpy().mean()",
        "array = «loss.data».numpy(); return array.astype(int)",
        "array = «loss.data».numpy(); return array[()]",
        "sums = torch.zeros(1); sums += «loss.data»",
        "tensors = []; tensors.append(«loss.data»); return torch.stack(tensors)",
        "total += «loss.data»",
        "torch.save(«loss.data», 'loss.pt')",
        "g(«loss.data»)",
        "best = «q.max()[0].data»[0]",
        "best = «q.max(1)[1].data»",
        "best = «q.max(1)[1].data»[i]",
        "best = «q.max(1)[1].data»[0:1]",
        "best = «q.max(1)[1].data»[0].numpy()",
        "best = «q.max(1)[0].data»[0]",
        "best = «q.max(1, keepdim=True)[1].data»[0]",
        "best = «q.topk(3)[1].data»[0]",
        "best = «q.argmax().data»[0]",
        "best = «torch.max(q)[1].data»[0]",
    ],
)
def test_a_tensor_may_be_meant(statement: str) -> None:
    assert meant(statement) is None


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("action = «q.max(1)[1].data»[0]", "q.max(1)[1].data[0]"),
        ("action = «q.max(1, keepdim=True)[1].data»[0, 0]", "q.max(1, keepdim=True)[1].data[0, 0]"),
        ("action = «torch.max(q, 1)[1].data»[0]", "torch.max(q, 1)[1].data[0]"),
        ("action = «q.argmax(dim=1).data»[0]", "q.argmax(dim=1).data[0]"),
        ("action = «q.multinomial(1).data»[0][0]", "q.multinomial(1).data[0][0]"),
        ("_, best = q.max(1); return «best.data»[0]", "best.data[0]"),
        ("best = q.argmax(1); return «best.data»[0]", "best.data[0]"),
    ],
)
def test_a_place_was_a_number(statement: str, read: str) -> None:
    found = meant(statement)
    assert found is not None and found.indexed
    assert ast.unparse(found.read) == read
    assert not found.alike.is_certain
