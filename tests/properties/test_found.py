"""What the property tests and the fuzzer have found, each as small as it gets."""

from __future__ import annotations

from textwrap import dedent

import pytest
from invariants import check_findings, check_fix

from torchlint.diagnostic import Applicability
from torchlint.text.source import Source


def fixed(text: str, applicability: Applicability = Applicability.SAFE) -> str:
    return check_fix(Source(text), applicability).text


def test_a_name_made_of_itself_is_followed_once() -> None:
    """TPL007 went round and round: `x` is `Variable(x)`, and which `x` that is depends on the path."""
    text = """\
        h = x.view(-1)
        y = torch.tensor(loss(model(x), x.data), requires_grad=True); y.backward()
        x = Variable(x)
        async def step(source):
            y, z = Variable(x), Variable(x, requires_grad=True)
        """
    check_findings(Source(dedent(text)))


def test_a_statement_that_a_backslash_joins_to_the_line_before_does_not_stand_alone() -> None:
    text = "def f(w: nn.Parameter):\n    print(1); \\\n    w.data.zero_()\n"
    assert fixed(text, Applicability.UNSAFE) == "def f(w: nn.Parameter):\n    print(1); \\\n    w.detach().zero_()\n"


def test_code_does_not_slip_into_a_comment() -> None:
    text = "def f(p: nn.Parameter):\n    q = p.grad.add(p.grad  # why\n\n        .data)\n    return q\n"
    assert (
        fixed(text, Applicability.UNSAFE)
        == "def f(p: nn.Parameter):\n    q = p.grad.add(p.grad  # why\n\n        .detach())\n    return q\n"
    )
    init = "def f(p: nn.Parameter):\n    nn.init.zeros_(p  # why\n\n        .data)\n"
    assert fixed(init, Applicability.UNSAFE) == "def f(p: nn.Parameter):\n    nn.init.zeros_(p  # why\n        )\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "def f(p: nn.Parameter):\n    nn.init.zeros_(p.  # .data\n        data)\n",
            "def f(p: nn.Parameter):\n    nn.init.zeros_(p  # .data\n        )\n",
        ),
        (
            "loss = F.cross_entropy(model(x), y, size_average=  # why\n    False)\n",
            'loss = F.cross_entropy(model(x), y,   # why\n    reduction="sum")\n',
        ),
        (
            "loss = F.cross_entropy(model(x), y, # why\n    size_average=  # what\n    False)\n",
            'loss = F.cross_entropy(model(x), y, # why\n      # what\n    reduction="sum")\n',
        ),
    ],
)
def test_a_comment_among_what_a_fix_replaces_stays(text: str, after: str) -> None:
    check_findings(Source(text))
    assert fixed(text, Applicability.UNSAFE) == after


def test_a_comment_goes_with_the_line_that_a_fix_deletes() -> None:
    text = "from torch.autograd import Variable  # type: ignore\nx = 1\n"
    assert fixed(text, Applicability.UNSAFE) == "x = 1\n"


def test_a_wrapper_of_a_wrapper_leaves_the_tensor_inside_alone() -> None:
    """The tensor itself would have become a leaf that takes gradients."""
    text = (
        "import torch\nfrom torch.autograd import Variable\nx = torch.ones(2)\nw = Variable(Variable(x), requires_grad=True)\n"
    )
    assert fixed(text, Applicability.UNSAFE) == "import torch\nx = torch.ones(2)\nw = x.detach().requires_grad_()\n"


def test_an_item_may_have_space_around_its_index() -> None:
    text = "def f(loss):\n    loss.backward()\n    return loss.data[  0]\n"
    assert fixed(text, Applicability.UNSAFE) == "def f(loss):\n    loss.backward()\n    return loss.item()\n"


def test_the_message_has_the_parentheses_of_the_code() -> None:
    text = "def f(w: nn.Parameter, x):\n    y = (w.sigmoid() + x).data\n    return y\n"
    (found,) = check_findings(Source(text))
    assert "`(w.sigmoid() + x).data`" in found.message


def test_of_two_like_comments_none_is_lost() -> None:
    text = "from torch import autograd\nx = (autograd  # why\n     .Variable(torch.ones(1)  # why\n     ))\n"
    assert fixed(text).count("# why") == 2


@pytest.mark.parametrize(
    ("change", "fixed_change"),
    [("{}.data = x", "{}.detach().copy_(x)"), ("{}.data.add_(1)", "{}.detach().add_(1)")],
)
def test_a_statement_that_shares_its_line_has_a_fix_of_its_own(change: str, fixed_change: str) -> None:
    """It was given that of the lines before, and mended in the next round; the lines behind it went without `no_grad`."""
    a, b = change.format("a"), change.format("b")
    text = f"def f(a: nn.Parameter, b: nn.Parameter, x):\n    {a}\n    {b}; {a}\n    {b}\n"
    found = check_findings(Source(text))
    fixes = [each.fix for each in found if each.fix is not None]
    assert [each.location.row for each in found] == [2, 3, 3, 4]
    assert [{edit.location.row for edit in each.edits} for each in fixes[1:3]] == [{3}, {3}]
    assert f"\n    {fixed_change.format('b')}; {fixed_change.format('a')}\n" in fixed(text, Applicability.UNSAFE)
    assert fixed(text, Applicability.UNSAFE).count("with torch.no_grad():") == 2


def test_an_operand_over_several_lines_keeps_parentheses() -> None:
    """What stood in the brackets of a call came to stand behind `return`."""
    text = "def f(x: torch.Tensor):\n    return id(x\n        .detach()) == id(x\n        )\n"
    assert fixed(text, Applicability.UNSAFE) == (
        "def f(x: torch.Tensor):\n    return (x\n        .detach().data_ptr()) == x.data_ptr()\n"
    )
