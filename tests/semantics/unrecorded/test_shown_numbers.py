"""Which reads of ``.data`` give one number to show, or one that code of torch 0.3 took."""

from __future__ import annotations

import ast
import textwrap

import pytest

from marked import marked
from torchlint.semantics.unrecorded.shown_numbers import ShownNumbers


def is_shown(snippet: str) -> bool:
    semantics, (node,) = marked("import torch\n" + textwrap.dedent(snippet))
    assert isinstance(node, ast.Attribute)
    return semantics.of(ShownNumbers).is_one(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "d_x = «net(x).data».mean()\nprint('D(x): %.4f' % d_x)",
        "d_x = «net(x).data».mean()\nprint('%d %.4f' % (step, d_x))\nprint(f'{d_x:.3f}')",
        "d_x = «net(x).data».abs().mean().cpu()\nprint('{:.4f}'.format(d_x))",
        "d_x = «out.data».mean()\nprint('D', d_x)",
        "d_x = «out.data».mean()\nwriter.add_scalar('d', d_x, step)",
        "d_x = «out.data».max().item()\nlogging.info('%f', d_x)",
        "writer.add_scalar('d', «out.data».mean(), step)",
        "d_x = «out.data».mean()\nkept.append(float(d_x))",
        "total = 0.9 * total + «loss.data».squeeze()[0]",
        "kept.append(«loss.data»[0])",
        "value = «value.data».squeeze()[0]",
        "loss = torch.mean(x)\nrow = [loss.data[0], «entropy.data»[0]]",
        "def f(i, *given):\n    value = given[i] if i < 2 else given[i].mean()\n    return «value.data»[0]",
        "def f(x, given):\n    value = torch.mean(x)\n    if given:\n        value = given[3]\n    return «value.data»[0]",
        "for c in range(3):\n    for q in range(2):\n        one = ys[q, c]\n        kept.append({'r': «one.data»[0]})",
        "for c in range(3):\n    one = ys[0, c]\n    p = sums[c] + one\n    kept.append((p, «p.data»[0]))",
        "def f(x, n):\n    mean = x.sum() / 3\n    return «mean.data»[0]",
    ],
)
def test_one_number_is_shown(snippet: str) -> None:
    assert is_shown(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "d_x = «net(x).data».mean()\nlearn(d_x)",
        "d_x = «net(x).data».mean()\nprint(d_x)\nlearn(d_x)",  # one of them is no text
        "d_x = «net(x).data».mean()",  # nobody shows it here
        "d_x = «net(x).data».mean(0)\nprint(d_x)",  # many numbers
        "d_x = «net(x).data»\nprint(d_x)",
        "d_x = «net(x).data».mean()\nloss = loss / d_x",
        "self.d_x = «net(x).data».mean()",
        "first = «out.data»[0]",
        "for c in range(3):\n    one = ys[c]\n    kept.append(«one.data»[0])",
        "for c in range(3):\n    one = ys[c, rows]\n    kept.append(«one.data»[0])",
        "for c in range(3):\n    one = ys[c, 1:]\n    kept.append(«one.data»[0])",
        "for c in range(3):\n    p = sums[c] + 1\n    kept.append(«p.data»[0])",
        "def f(x, y):\n    scaled = x.sum() * y\n    return «scaled.data»[0]",
        "def f(i, *given):\n    value = given[i] if i < 2 else given[i].mean(1)\n    return «value.data»[0]",
        "def f(i, given):\n    value, other = given.mean(), 3\n    value = given\n    return «value.data»[0]",
        "first = «loss.data»[1]",
        "first = «loss.data».mean(1)[0]",
        "«loss.data»[0] = 1",
        "row = [loss.data[n], «entropy.data»[0]]",
    ],
)
def test_tensors_are_wanted_or_others_use_the_number(snippet: str) -> None:
    assert not is_shown(snippet)
