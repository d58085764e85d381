"""Operations of several processes: each marked call is one that others do not call, or that nobody waits for."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.distributed.lonely import LonelyCollectives

HEAD = "import torch.distributed as dist\n"


def alone(snippet: str) -> list[tuple[str, bool, bool]]:
    """The conditions of the marked calls, and whether each can be put behind its branch, and leaves nothing there then."""
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(LonelyCollectives).alone
    assert list(found) == nodes
    return [(ast.unparse(each.condition), each.is_last, each.is_only) for each in found.values()]


@pytest.mark.parametrize(
    "condition",
    [
        "rank == 0",
        "0 == rank",
        "args.local_rank == 0",
        "dist.get_rank() == 1",
        "not rank",
        "rank == 0 and x",
        "is_main_process()",
    ],
)
def test_one_process_calls_alone(condition: str) -> None:
    assert alone(f"def f():\n    if {condition}:\n        go()\n        «dist.barrier()»\n    stay()") == [
        (condition, True, False)
    ]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("«dist.all_reduce(t)»", (True, True)),
        ("«dist.all_reduce(t)»\n        go()", (False, False)),
        ("t = make()\n        «dist.all_reduce(t)»", (False, False)),
        ("x = «dist.all_reduce(t)»", (False, False)),
        ("for t in ts:\n            «dist.all_reduce(t)»", (False, False)),
        ("if not t:\n            return\n        «dist.all_reduce(t)»", (False, False)),
    ],
)
def test_where_it_stands(body: str, where: tuple[bool, bool]) -> None:
    assert alone(f"def f(t):\n    if rank == 0:\n        {body}\n    stay()") == [("rank == 0", *where)]


@pytest.mark.parametrize(
    "snippet",
    [
        "dist.barrier()",
        "if rank < 4:\n    dist.barrier()",
        "if rank != 0:\n    dist.barrier()",
        "if epoch == 0:\n    dist.barrier()",
        "if rank == 0:\n    dist.all_reduce(t, group=g)",
        "if rank == 0:\n    dist.all_reduce(t, **more)",
        "if rank == 0:\n    dist.send(t, 1)",
        "if rank == 0:\n    other.barrier()",
        "if rank == 0:\n    dist.broadcast(t, 0)\nelse:\n    dist.broadcast(t, 0)",
        "if rank == 0:\n    pass\nelse:\n    dist.barrier()",
        "if rank > 0:\n    dist.barrier()\nload()\nif rank == 0:\n    dist.barrier()",
        "if rank == 0:\n    def f():\n        dist.barrier()",
    ],
)
def test_all_call_it_or_may(snippet: str) -> None:
    assert alone(snippet) == []


CLASS = """
class A:
    def __enter__(self):
        if {}:
            {}

    def __exit__(self):
        if rank == 0:
            {}
"""


def test_another_method_may_answer() -> None:
    barrier = "dist.barrier()"
    assert alone(CLASS.format("rank > 0", barrier, barrier)) == []
    assert alone(CLASS.format("rank > 0", "dist.all_reduce(t)", f"«{barrier}»")) == [("rank == 0", True, True)]
    assert alone(CLASS.format("rank == 0", f"«{barrier}»", f"«{barrier}»")) == [("rank == 0", True, True)] * 2
    apart = CLASS.format("rank > 0", barrier, f"«{barrier}»").replace("    def __exit__", "class B:\n    def __exit__")
    assert alone(apart) == [("rank == 0", True, True)]
    elsewhere = CLASS.format("epoch > 0", barrier, f"«{barrier}»")
    assert alone(elsewhere) == [("rank == 0", True, True)]


def unwaited(snippet: str) -> list[str]:
    """What the marked operations are called."""
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(LonelyCollectives).unwaited
    assert sorted(found, key=lambda call: call.lineno) == nodes
    return [found[call].name for call in sorted(found, key=lambda call: call.lineno)]


def test_nobody_waits() -> None:
    assert unwaited("«dist.isend(t, 1)»\n«dist.all_reduce(t, async_op=True)»") == ["", ""]
    assert unwaited("def f(t):\n    work = «dist.irecv(t, 1)»\n    return t") == ["work"]


def test_collectives_are_over_at_a_barrier_behind_them() -> None:
    loop = "def f(ts):\n    {}for t in ts:\n        {}\n    {}return ts"
    started = "dist.broadcast(t, src=0, async_op=True)"
    assert unwaited(loop.format("", started, "dist.barrier()\n    ")) == []
    assert unwaited(loop.format("dist.barrier()\n    ", f"«{started}»", "")) == [""]
    assert unwaited(loop.format("", "«dist.isend(t, 1)»", "dist.barrier()\n    ")) == [""]
    assert unwaited(loop.format("", f"«{started}»", "") + "\ndef g():\n    dist.barrier()") == [""]


@pytest.mark.parametrize(
    "snippet",
    [
        "dist.isend(t, 1).wait()",
        "works.append(dist.isend(t, 1))",
        "def f(t):\n    work = dist.irecv(t, 1)\n    work.wait()",
        "dist.all_reduce(t)",
        "dist.all_reduce(t, async_op=flag)",
        "dist.send(t, 1)",
        "other.isend(t, 1)",
    ],
)
def test_somebody_waits_or_may(snippet: str) -> None:
    assert unwaited(snippet) == []
