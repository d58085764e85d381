"""What a method gives that a base class in another file defines: tensors, where functions of torch make them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

BASE = """
    import torch
    from torch import nn
    from .mine import sum as own_sum

    class Plain(nn.Module):
        def counts(self, scores, mask):
            right = torch.sum(scores.argmax(1).eq(mask))
            total = torch.sum(mask)
            return right, total

        def mean(self, scores):
            if scores is None:
                return torch.zeros(1)
            return torch.mean(scores)

        def listed(self, scores):
            if scores is None:
                return []
            return torch.mean(scores)

        def perhaps(self, scores):
            if scores is None:
                return
            return torch.mean(scores)

        def own(self, scores):
            return own_sum(scores)

        def each(self, scores):
            yield torch.mean(scores)
            return torch.sum(scores)

        @nn.memoize
        def cached(self, scores):
            return torch.mean(scores)

        def nested(self, scores):
            def inner():
                return torch.mean(scores)
            return inner

    class Criterion(Plain):
        pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    package = tmp_path / "net"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "base.py").write_text(dedent(BASE))
    (package / "mine.py").write_text("def sum(values):\n    return Box(values)\n")
    return package


def lines(project: Path, body: str, *, bases: str = "Criterion", more: str = "") -> list[int]:
    """Where TPL002 reports what stands in a method of a class that derives from another file's."""
    head = f"import torch\nfrom unknown import Mixin\nfrom .base import Criterion, Plain\n\nclass Mine({bases}):\n"
    text = head + f"    def report(self, scores, mask):\n        {body}\n" + more
    file = project / "mine_loss.py"
    file.write_text(text)
    return [each.location.row for each in lint(text, filename=str(file), select=["TPL002"], project_root=str(project.parent))]


@pytest.mark.parametrize("bases", ["Criterion", "Plain"])
@pytest.mark.parametrize(
    "body",
    [
        "right, total = self.counts(scores, mask); return right.data",
        "right, total = self.counts(scores, mask); return total.data",
        "loss = self.mean(scores); return loss.data",
    ],
)
def test_method_of_a_base_class_gives_tensors_of_torch(project: Path, bases: str, body: str) -> None:
    assert lines(project, body, bases=bases) == [7]


@pytest.mark.parametrize(
    "body",
    [
        f"found = self.{name}(scores); return found.data"
        for name in ("listed", "perhaps", "own", "each", "cached", "nested", "gone")
    ],
)
def test_method_that_may_give_anything_else_tells_nothing(project: Path, body: str) -> None:
    assert lines(project, body) == []


def test_what_stands_before_the_base_class_may_have_the_method(project: Path) -> None:
    body = "found = self.mean(scores); return found.data"
    assert lines(project, body, bases="Mixin, Criterion") == []
    assert lines(project, body, bases="Criterion, Mixin") == [7]


def test_own_method_or_attribute_of_the_name_comes_first(project: Path) -> None:
    body = "found = self.mean(scores); return found.data"
    assert lines(project, body, more="    def mean(self, scores):\n        return scores.box()\n") == []
    assert lines(project, body, more="    def __init__(self, mean):\n        self.mean = mean\n") == []
