"""Comparisons of the identity of tensors over one memory: of each snippet, whether the marked node is one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.identity import IdentityTest, IdentityTests

HEAD = "import numpy\nimport torch\nclass T:\n  def f(self, x: torch.Tensor, y: torch.Tensor, a: numpy.ndarray, unknown):\n    "


def compared(body: str) -> IdentityTest[ast.expr] | None:
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(IdentityTests).found.get(node)


@pytest.mark.parametrize(
    ("body", "tensors"),
    [
        ("«id(x.data) == id(y.data)»", ("x.data", "y.data")),
        ("«id(x.view(-1)) != id(x)»", ("x.view(-1)", "x")),
        ("«id(x[0]) == id(x[0])»", ("x[0]", "x[0]")),
        ("v = x.view(-1)\n    «id(v) == id(x)»", ("v", "x")),
        ("«x.data is y.data»", ("x.data", "y.data")),
        ("«x.T is not y»", ("x.T", "y")),
        ("v = x.view(-1)\n    «v is x»", ("v", "x")),
        ("«x.storage() is y.storage()»", ("x.storage()", "y.storage()")),
        ("v = x.detach()\n    «self.assertIs(v, x)»", ("v", "x")),
        ("«self.assertIsNot(x.data, y.data)»", ("x.data", "y.data")),
        ("«self.assertEqual(id(x.data), id(y.data))»", ("x.data", "y.data")),
        ("«self.assertNotEqual(id(x.storage()), id(y.storage()))»", ("x.storage()", "y.storage()")),
    ],
)
def test_objects_that_may_differ_over_one_memory(body: str, tensors: tuple[str, str]) -> None:
    found = compared(body)
    assert found is not None
    assert (ast.unparse(found.one.tensor), ast.unparse(found.other.tensor)) == tensors


@pytest.mark.parametrize(
    "body",
    [
        "«x is y»",
        "«id(x) == id(y)»",
        "«x.data == y.data»",
        "«x.data is None»",
        "«self.assertIs(x.data, None)»",
        "«id(x.data) == id(y.data) == 3»",
        "«x.data in [y.data]»",
        "«x.add_(1) is x»",
        "«x.requires_grad_() is x»",
    ],
)
def test_other_comparisons(body: str) -> None:
    assert compared(body) is None


@pytest.mark.parametrize("body", ["«x.real is x»", "«x.conj() is x»", "«x.contiguous() is x»", "«x.to('cpu') is x»"])
def test_what_may_be_the_tensor_itself(body: str) -> None:
    assert compared(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "«unknown.data is unknown»",
        "«id(unknown.data) == id(unknown)»",
        "«a[0] is a»",
        "id = len\n    «id(x.data) == id(y.data)»",
    ],
)
def test_what_may_be_no_tensor_or_no_id(body: str) -> None:
    assert compared(body) is None


def test_an_array_over_the_tensors_memory() -> None:
    found = compared("t = torch.from_numpy(a)\n    «t is a»")
    assert found is not None
    assert (found.one.is_array, found.other.is_array) == (False, True)


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ("before = id(x)\n    x.add_(1)\n    «before == id(x)»", (True, False)),
        ("before = id(x)\n    x.add_(1)\n    «id(x) == before»", (False, True)),
        ("before = id(x.data)\n    «id(x.data) == before»", (False, True)),
    ],
)
def test_an_id_that_was_taken_before(body: str, stored: tuple[bool, bool]) -> None:
    found = compared(body)
    assert found is not None
    assert (found.one.stored, found.other.stored) == stored
    assert {ast.unparse(found.one.written), ast.unparse(found.other.written)} == {f"id({ast.unparse(found.one.tensor)})"}


@pytest.mark.parametrize(
    "body",
    [
        "one = id(x)\n    two = id(x)\n    «one == two»",
        "before = id(x)\n    «before == id(y)»",
        "«unknown == id(x)»",
        "self.w = x\n    before = id(self.w)\n    self.load(y)\n    «id(self.w) == before»",  # the object is asked for
    ],
)
def test_ids_that_say_nothing_of_a_memory(body: str) -> None:
    assert compared(body) is None
