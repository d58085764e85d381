"""What a file calls an API."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.spellings import Spellings


@pytest.mark.parametrize(
    ("snippet", "names"),
    [
        ("", {"Variable"}),
        ("from torch.autograd import Variable", {"Variable"}),
        ("from torch.autograd import Variable as V", {"Variable", "V"}),
        ("V = autograd.Variable\nW = V", {"Variable", "V", "W"}),
        ("def f():\n    V = autograd.Variable if old else Tensor", {"Variable", "V"}),
        ("V = Variable(x)", {"Variable"}),
        ("import Variable.other as other", {"Variable"}),
    ],
)
def test_follows_imports_and_assignments(snippet: str, names: set[str]) -> None:
    semantics, _ = marked(snippet)
    assert semantics.of(Spellings).names_for({"Variable"}) == names


def test_finds_the_references_to_an_api() -> None:
    semantics, expected = marked(
        """\
        import torch.autograd as ag
        from torch.autograd import Variable
        from torch.autograd import Variable as V
        «ag.Variable»(x)
        «Variable»(«V»)
        other.Variable(x)
        W = «V»
        «W»(x)
        def f(Variable): Variable(x)
        """
    )
    found = semantics.of(Spellings).references({"torch.autograd.Variable"})
    read = [node for node in found if isinstance(node.ctx, ast.Load)]
    assert sorted(read, key=lambda node: (node.lineno, node.col_offset)) == expected


def test_finds_the_calls_that_may_be_of_an_api() -> None:
    semantics, expected = marked("from torch import load as read\n«read(f)»\n«yaml.load(f)»\ndump(f)\n")
    assert set(semantics.of(Spellings).calls({"load"})) == set(expected)
