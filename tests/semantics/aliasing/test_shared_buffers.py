"""Changes of memory that a tensor and an array share: of each snippet, whether the marked node makes one that matters."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers, SharedChange

HEAD = "import numpy\nimport torch\ndef f(x: torch.Tensor, a: numpy.ndarray, unknown):\n    "


def shared(body: str) -> SharedChange[ast.expr] | None:
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(SharedBuffers).changes.get(node)


@pytest.mark.parametrize(
    ("body", "through", "conversion"),
    [
        ("t = torch.from_numpy(a)\n    «t.zero_()»\n    return a", "t", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a)\n    «a[0]» = 1\n    return t", "a", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a)\n    «a» += 1\n    return t", "a", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a)\n    «a.sort()»\n    return t", "a", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a)\n    «numpy.add(a, 1, out=a)»\n    return t", "a", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a)[1:]\n    «t.zero_()»\n    return a", "t", "torch.from_numpy(a)[1:]"),
        ("t = torch.from_numpy(a)\n    v = t.view(-1)\n    «v.zero_()»\n    return a", "v", "torch.from_numpy(a)"),
        ("t = torch.from_numpy(a[0])\n    «t.zero_()»\n    return a", "t", "torch.from_numpy(a[0])"),
        ("t = torch.as_tensor(a)\n    «t.zero_()»\n    return a", "t", "torch.as_tensor(a)"),
        ("t = torch.from_dlpack(a)\n    «t.zero_()»\n    return a", "t", "torch.from_dlpack(a)"),
        ("for _ in unknown:\n        t = torch.from_numpy(a)\n        «t.add_(1)»", "t", "torch.from_numpy(a)"),
    ],
)
def test_a_tensor_of_an_array(body: str, through: str, conversion: str) -> None:
    found = shared(body)
    assert found is not None
    assert (ast.unparse(found.through), ast.unparse(found.conversion)) == (through, conversion)
    assert (ast.unparse(found.source), ast.unparse(found.result), found.gives_array) == ("a", "t", False)


@pytest.mark.parametrize(
    ("body", "through"),
    [
        ("n = x.numpy()\n    «n[0]» = 1\n    return x", "n"),
        ("n = x.numpy()\n    «x.zero_()»\n    return n", "x"),
        ("n = numpy.asarray(x)\n    «n[0]» = 1\n    return x", "n"),
    ],
)
def test_an_array_of_a_tensor(body: str, through: str) -> None:
    found = shared(body)
    assert found is not None
    assert (ast.unparse(found.through), ast.unparse(found.source), found.gives_array) == (through, "x", True)


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.from_numpy(a)\n    «t.zero_()»\n    return t",
        "t = torch.from_numpy(a)\n    «a[0]» = 1\n    return a",
        "t = torch.from_numpy(a)\n    «t.zero_()»\n    return a.shape",
        "t = torch.from_numpy(a)\n    «a[0]» = 1\n    print(t.shape)",
        "a = torch.from_numpy(a)\n    «a.zero_()»\n    return a",
        "n = x.numpy()\n    unknown(n)\n    «x.zero_()»",
    ],
)
def test_the_other_side_is_not_used_again(body: str) -> None:
    assert shared(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.tensor(a)\n    «t.zero_()»\n    return a",
        "t = torch.from_numpy(a).clone()\n    «t.zero_()»\n    return a",
        "t = torch.from_numpy(a)\n    t = t + 1\n    «t.zero_()»\n    return a",
        "t = torch.from_numpy(a)\n    a = a.copy()\n    «t.zero_()»\n    return a",
        "n = x.numpy()\n    b = n.copy()\n    «b[0]» = 1\n    return x",
    ],
)
def test_a_copy_is_in_between(body: str) -> None:
    assert shared(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.from_numpy(a).cuda()\n    «t.zero_()»\n    return a",
        "t = torch.from_numpy(a).float()\n    «t.zero_()»\n    return a",
        "t = torch.as_tensor(a, dtype=torch.float32)\n    «t.zero_()»\n    return a",
        "t = torch.as_tensor(a, device='cuda')\n    «t.zero_()»\n    return a",
        "n = x.cpu().numpy()\n    «n[0]» = 1\n    return x",
        "n = x.numpy(force=True)\n    «n[0]» = 1\n    return x",
    ],
)
def test_a_copy_may_be_in_between(body: str) -> None:
    assert shared(body) is None


@pytest.mark.parametrize(
    ("array", "constructor", "shares"),
    [
        ("numpy.zeros(3, dtype='float32')", "torch.Tensor", True),
        ("numpy.zeros(3, dtype=numpy.float32)", "torch.FloatTensor", True),
        ("numpy.zeros(3)", "torch.DoubleTensor", True),
        ("numpy.zeros(3)", "torch.Tensor", False),
        ("a", "torch.Tensor", False),
    ],
)
def test_legacy_constructors_share_the_memory_of_their_own_type(array: str, constructor: str, shares: bool) -> None:
    body = f"b = {array}\n    t = {constructor}(b)\n    «t.zero_()»\n    return b"
    assert (shared(body) is not None) is shares


def test_an_array_that_is_made_to_be_filled() -> None:
    assert shared("a = numpy.empty(3)\n    t = torch.from_numpy(a)\n    «t.zero_()»\n    return a") is None


def test_a_detached_tensor_is_for_another_analysis() -> None:
    assert shared("n = x.detach().numpy()\n    «n[0]» = 1\n    return x") is None


@pytest.mark.parametrize(
    "body",
    [
        "for i in unknown:\n        «a[:]» = i\n        k.append(torch.from_numpy(a))\n    return k",
        "for i in unknown:\n        k.append(torch.from_numpy(a))\n        «a» += i\n    return k",
        "while k:\n        «a.fill(1)»\n        k.append(torch.as_tensor(a)[1:])",
    ],
)
def test_a_list_of_one_buffer(body: str) -> None:
    found = shared(f"k = [unknown]\n    {body}")
    assert found is not None
    assert (ast.unparse(found.source), ast.unparse(found.result), found.gives_array) == ("a", "k", False)


@pytest.mark.parametrize(
    "body",
    [
        "for i in unknown:\n        «a[:]» = i\n        k.append(torch.from_numpy(a).clone())\n    return k",
        "for i in unknown:\n        a = numpy.zeros(3)\n        «a» += i\n        k.append(torch.from_numpy(a))\n    return k",
        "for i in unknown:\n        «a[:]» = i\n        k.append(torch.from_numpy(a))",  # which nobody reads
        "for i in unknown:\n        «a[:]» = i\n        k = []\n        k.append(torch.from_numpy(a))\n        print(k)",
        "for i in unknown:\n        «a[:]» = i\n        k.append(torch.from_numpy(a))\n        print(k[-1])",
        "«a[:]» = 1\n    for i in unknown:\n        k.append(torch.from_numpy(a))\n    return k",
        "k.append(torch.from_numpy(a))\n    «a[:]» = 1\n    return k",  # of which no more is known than of one name
    ],
)
def test_a_list_of_several_or_of_one_that_stays(body: str) -> None:
    assert shared(f"k = [unknown]\n    {body}") is None


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("t = torch.from_numpy(a)\n«a[0]» = 1\nprint(t, a)", True),
        ("t = torch.from_numpy(a)\n«a[0]» = 1\nt", True),
        ("t = torch.from_numpy(a)\n«t[0]» = 1\nprint('a:', a)", True),
        ("t = torch.from_numpy(a)\n«a[0]» = 1\nprint(t)\nmodel(t)", False),
        ("t = torch.from_numpy(a)\n«t.zero_()»\nmodel(a)", False),
        ("def f():\n    t = torch.from_numpy(a)\n    «a[0]» = 1\n    print(t)", False),
    ],
)
def test_a_lesson_prints_what_changed(text: str, is_shown: bool) -> None:
    semantics, (node,) = marked(f"import numpy\nimport torch\na = numpy.ones(3)\n{text}")
    assert semantics.of(SharedBuffers).changes[node].is_shown is is_shown
