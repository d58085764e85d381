"""Of which values nothing but numbers are asked."""

from __future__ import annotations

import textwrap

import pytest

from marked import marked
from torchlint.semantics.unrecorded.asked_numbers import AskedNumbers

_BRANCHES = """\
def watch(self, x, how):
    for i in range(3):
        if how == 'norm':
            far = torch.norm(«x[i].data») / 3
        elif how == 'top':
            far = torch.max(x[i])
        else:
            raise ValueError(how)
        if self.smooth:
            far = self.far[i] * 0.9 + far * 0.1
        self.far[i] = {kept}
    return x
"""
_LOGGED = """\
def go(logger, net, x, step):
    loss = net(x)
    info = {{'loss': «loss.data», 'step': step}}
    for tag, value in info.{walked}:
        logger.{log}(tag, value, step + 1)
"""


def are_numbers(snippet: str) -> bool:
    semantics, [node] = marked("import math\nimport torch\n" + textwrap.dedent(snippet))
    return semantics.of(AskedNumbers).are_all(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "far = -«a.data».cpu() + b.data.cpu()\nbar.set_postfix(far=far.item())",
        "far = «a.data»\nnear = far * 2\nprint(near.item(), f'{far.mean():.3f}')",
        "far = «a.data»[0, 1]\nkept.append(far.item())",
        "far = torch.norm(«a.data»)\nif far > 3:\n    stop()",
        "far = torch.abs(«a.data»).max()\nkept.append(float(far))",
        "far = «a.data».mean()\nkept.append(math.sqrt(far))",
        "far = «a.data»\nwriter.add_scalar('far', far, 3)",
        _BRANCHES.format(kept="far.item()"),
        _LOGGED.format(walked="items()", log="scalar_summary"),
        _LOGGED.format(walked="items()", log="add_scalar"),
        "for w in «a.data».flatten():\n    kept.append(w.item())",
        "row = «a.data».flatten()\nfor i, w in enumerate(row):\n    kept.append(w.abs().item())\n    both.add((i, w.item()))",
        "kept = [w.item() for w in «a.data»]",
    ],
)
def test_numbers_are_all(snippet: str) -> None:
    assert are_numbers(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "far = -«a.data».cpu() + b.data.cpu()\nbar.set_postfix(far=far.item())\nkept.append(far)",
        "far = «a.data»\nprint(far)",  # perhaps many numbers
        "far = «a.data»\nif (far > 3).all():\n    stop()",
        "far = «a.data».max(1)\nprint(far)",
        "far = torch.max(«a.data», b)\nprint(far)",
        "far = torch.sum(«a.data», 1)\nprint(far)",
        "far = torch.sum(«a.data», dim=1)\nprint(far)",
        "far = own.norm(«a.data»)\nprint(far)",
        "total = 0\nfor x in xs:\n    total = total + «x.data».mean()\nprint(total)",  # the sum is kept
        "far = «a.data».mean()\nloss = loss + far\nloss.backward()",
        "far = «a.data».mean()\nself.far = far",
        "far, near = «a.data».mean(), 3\nprint(far)",
        "def f(a):\n    far = «a.data».mean()\n    return far",
        "far = «a.data».mean()\nfar += 3\nshow(far)",
        "far = near = «a.data».mean()\nprint(far)",
        "writer.add_scalar('far', «a.data», 3)",  # a question of numbers that are meant
        _BRANCHES.format(kept="far"),
        _BRANCHES.format(kept="far.item()").replace("raise ValueError(how)", "pass"),  # what was there before is added to
        _LOGGED.format(walked="values()", log="scalar_summary"),
        _LOGGED.format(walked="items()", log="add_image"),
        _LOGGED.format(walked="items()", log="add_scalar") + "    return info",
        "for w in «a.data».flatten():\n    kept.append(w)",
        "for w in «a.data».flatten():\n    pass",
        "for w in «a.data».flatten():\n    kept.append(w.item())\n    last = w",
        "row = «a.data».flatten()\nfor i, w in enumerate(row):\n    kept.append((i, w))",
        "for pair in enumerate(«a.data»):\n    kept.append(pair)",
        "for a, b in «pairs.data»:\n    print(a.item())",
    ],
)
def test_others_may_be_asked(snippet: str) -> None:
    assert not are_numbers(snippet)
