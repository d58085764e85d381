"""Arrays that nobody else has and that are not used again: of each snippet, whether the marked one is such."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.aliasing.spent_arrays import SpentArrays

HEAD = "import numpy\nimport torch\ndef f(x: torch.Tensor, a: numpy.ndarray, n, keep):\n    "


def is_spent(body: str) -> bool:
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(SpentArrays).is_copied_for_nothing(node)


def is_spent_name(body: str) -> bool:
    """Whether an array ``z`` is spent, behind these statements, where a tensor is made of it."""
    return is_spent(f"z = numpy.zeros(n)\n    {body}")


@pytest.mark.parametrize(
    "data",
    [
        "numpy.zeros(n)",
        "numpy.zeros((1000, 1000))",
        "numpy.zeros((32, 32))",
        "numpy.random.rand(5000)",
        "numpy.concatenate([a, a])",
        "a + 1",
        "a.copy()",
        "a.astype('float32')",
        "numpy.zeros(n).reshape(3, -1)",
    ],
)
def test_made_where_it_stands(data: str) -> None:
    assert is_spent(f"torch.tensor(«{data}»)")


@pytest.mark.parametrize(
    "data",
    [
        "a",
        "a[0]",
        "a.reshape(-1)",
        "x.numpy()",
        "numpy.asarray(a)",
        "numpy.frombuffer(n)",
        "numpy.broadcast_to(a, (n, n))",
        "a.astype('float32', copy=False)",
        "numpy.load(n, mmap_mode='r')",
        "n",
    ],
)
def test_the_memory_of_something_else(data: str) -> None:
    assert not is_spent(f"torch.tensor(«{data}»)")


@pytest.mark.parametrize("data", ["numpy.zeros(10)", "numpy.zeros((30, 30))", "numpy.array([1, 2])", "numpy.random.rand(5)"])
def test_too_small_to_matter(data: str) -> None:
    assert not is_spent(f"torch.tensor(«{data}»)")


@pytest.mark.parametrize(
    "body",
    [
        "return torch.tensor(«z»)",
        "z[0] = 1\n    z += z.T\n    return torch.tensor(«z»)",
        "print(z, len(z), z.sum(), z.T @ a)\n    return torch.tensor(«z»)",
        "print(z.reshape(-1)[0])\n    return torch.tensor(«z»)",
        "s = z.sum()\n    keep(s)\n    return torch.tensor(«z»)",
        "m = z.astype(int)\n    keep(m)\n    return torch.tensor(«z»)",
        "z = z.reshape(-1)\n    return torch.tensor(«z»)",
        "y = z.reshape(-1)\n    return torch.tensor(«y»)",
        "return torch.tensor(«z.reshape(-1)»)",
        "for z in n:\n        z = numpy.zeros(n)\n        keep.append(torch.tensor(«z»))",
    ],
)
def test_not_used_again(body: str) -> None:
    assert is_spent_name(body)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.tensor(«z»), z",
        "t = torch.tensor(«z»)\n    z[0] = 1\n    return t",
        "t = torch.tensor(«z»)\n    z += 1\n    return t",
        "for _ in n:\n        keep.append(torch.tensor(«z»))",
        "try:\n        return torch.tensor(«z»)\n    finally:\n        print(z)",
        "y = z.reshape(-1)\n    return torch.tensor(«y»), z",
        "return torch.tensor(«z.reshape(-1)»), z",
    ],
)
def test_used_again(body: str) -> None:
    assert not is_spent_name(body)


@pytest.mark.parametrize(
    "statement",
    [
        "keep(z)",
        "keep.z = z",
        "g = lambda: z",
        "keep(z.T)",
        "keep(z.reshape(-1).T)",
        "y = z[1:]",
        "y = z.T",
        "y = numpy.asarray(z)",
        "y = numpy.reshape(z, -1)",
        "y = z = numpy.zeros(n)",
    ],
)
def test_kept_by_another_name_or_in_a_view(statement: str) -> None:
    assert not is_spent_name(f"{statement}\n    return torch.tensor(«z»)")


def are_arrays(body: str) -> bool:
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(SpentArrays).are_in_list(node)


@pytest.mark.parametrize(
    "body",
    [
        "«[a, a]»",
        "«(a, a)»",
        "«[numpy.zeros(3) for _ in n]»",
        "z = [a, a]\n    «z»",
        "z = []\n    for _ in n:\n        z.append(numpy.zeros(3))\n    «z»",
    ],
)
def test_lists_of_arrays(body: str) -> None:
    assert are_arrays(body)


@pytest.mark.parametrize(
    "body",
    [
        "«[]»",
        "«[1, a]»",
        "«[each for each in n]»",
        "«n»",
        "z = []\n    «z»",
        "z = []\n    for each in n:\n        z.append(each)\n    «z»",
        "z = []\n    z.append(a)\n    z.extend(n)\n    «z»",
        "z = []\n    z.append(a)\n    z += [1]\n    «z»",
    ],
)
def test_other_lists_or_what_may_be_others(body: str) -> None:
    assert not are_arrays(body)
