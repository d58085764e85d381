"""Snapshots before a loop: whether the loop replaces them in its first round."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.first_snapshots import FirstSnapshots


def is_replaced(first: str, condition: str, inside: str = "best = copy(model)") -> bool:
    """Whether the loop replaces ``best``, where ``top`` starts with ``first``."""
    semantics, (start,) = marked(
        f"import math\nimport numpy as np\ntop = {first}\n«best» = model\nfor epoch in range(9):\n    score = train()\n"
        f"    if {condition}:\n        top = score\n        {inside}\nuse(best)\n"
    )
    stores = [node for node in semantics.tree.of_type(ast.Name) if node.id == "best" and isinstance(node.ctx, ast.Store)]
    return semantics.of(FirstSnapshots).is_replaced(start, stores)


@pytest.mark.parametrize(
    ("first", "condition"),
    [
        ("0", "score > top"),
        ("0.0", "top < score"),
        ("-1", "score >= top"),
        ("float('-inf')", "score > top"),
        ("-math.inf", "score > top"),
        ("-np.inf", "score > top"),
        ("-1e9", "score > top"),
        ("float('inf')", "score < top"),
        ("np.inf", "top > score"),
        ("1e10", "score < top"),
    ],
)
def test_the_first_round_is_the_best_so_far(first: str, condition: str) -> None:
    assert is_replaced(first, condition)


@pytest.mark.parametrize(
    ("first", "condition"),
    [
        ("evaluate()", "score > top"),
        ("0.9", "score > top"),
        ("0", "score < top"),
        ("1", "score < top"),
        ("float('inf')", "score > top"),
        ("-1e9", "score < top"),
        ("0", "score > 0"),
        ("0", "score > top and epoch > 3"),
        ("0", "score"),
    ],
)
def test_a_later_round_may_be_the_first_that_is_better(first: str, condition: str) -> None:
    assert not is_replaced(first, condition)


@pytest.mark.parametrize(
    ("default", "call", "replaced"),
    [
        ("0", "", True),
        ("0", "f(model)", True),
        ("0", "f(model, resumed())", False),
        ("0", "f(model, top=0.5)", False),
        ("0.5", "", False),
        ("None", "", False),
    ],
)
def test_the_best_so_far_is_what_a_parameter_has_by_default(default: str, call: str, replaced: bool) -> None:
    semantics, (start,) = marked(
        f"def f(model, top={default}):\n    «best» = model\n    for epoch in range(9):\n        score = train()\n"
        f"        if score > top:\n            top = score\n            best = copy(model)\n    use(best)\n{call}\n"
    )
    stores = [node for node in semantics.tree.of_type(ast.Name) if node.id == "best" and isinstance(node.ctx, ast.Store)]
    assert semantics.of(FirstSnapshots).is_replaced(start, stores) is replaced


def test_a_deeper_condition_may_keep_it() -> None:
    assert not is_replaced("0", "score > top", "if epoch > 3: best = copy(model)")
    assert is_replaced("0", "True", "pass\n    best = copy(model)")


def test_the_best_may_be_worked_out_behind_the_condition() -> None:
    head = "top = 0.0\n«best» = model\nfor epoch in range(9):\n    score = train()\n"
    text = f"{head}{{}}    if score > top:\n        best = copy(model)\n{{}}"
    behind = "    top = max(top, score)\n"

    def replaced(before: str, after: str) -> bool:
        semantics, (start,) = marked(text.format(before, after))
        stores = [node for node in semantics.tree.of_type(ast.Name) if node.id == "best" and isinstance(node.ctx, ast.Store)]
        return semantics.of(FirstSnapshots).is_replaced(start, stores)

    assert replaced("", behind)
    assert not replaced(behind, "")
    assert not replaced(behind, behind)
    assert not replaced("", "")


@pytest.mark.parametrize(
    ("phases", "condition", "expected"),
    [
        ("['train', 'val']", "phase == 'val' and score > top", True),
        ("('train', 'val')", "score > top and phase == 'val'", True),
        ("['train', 'val']", "phase == 'val' and score > top and epoch > 3", False),
        ("['train', 'val']", "phase == 'test' and score > top", False),
        ("phases", "phase == 'val' and score > top", False),
        ("['train', 'val']", "phase == 'val' or score > top", False),
    ],
)
def test_a_test_for_a_phase_holds_in_each_epoch(phases: str, condition: str, expected: bool) -> None:
    semantics, (start,) = marked(
        f"top = 0\n«best» = model\nfor epoch in range(9):\n    for phase in {phases}:\n        score = run(phase)\n"
        f"        if {condition}:\n            top = score\n            best = copy(model)\nuse(best)\n"
    )
    stores = [node for node in semantics.tree.of_type(ast.Name) if node.id == "best" and isinstance(node.ctx, ast.Store)]
    assert semantics.of(FirstSnapshots).is_replaced(start, stores) is expected
