"""Legacy constructors of tensors: which class is called, and what it is given."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.constructors import Constructors, Content


def constructors(snippet: str) -> tuple[Constructors, list[ast.Call]]:
    semantics, nodes = marked(snippet)
    return semantics.of(Constructors), [node for node in nodes if isinstance(node, ast.Call)]


# --- classes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snippet", "dtype", "on_gpu"),
    [
        ("import torch\n«torch.Tensor(3)»", None, False),
        ("import torch\n«torch.FloatTensor(3)»", "float32", False),
        ("import torch\n«torch.cuda.ByteTensor(3)»", "uint8", True),
        ("from torch import LongTensor as Indices\n«Indices([0])»", "int64", False),
        ("import torch\nmake = torch.DoubleTensor\n«make(3)»", "float64", False),
        ("import torch\nA = torch.HalfTensor\nB = A\n«B(3)»", "float16", False),
    ],
)
def test_knows_the_class_by_any_name(snippet: str, dtype: str | None, on_gpu: bool) -> None:
    found, [call] = constructors(snippet)
    assert (found.made[call].dtype, found.made[call].on_gpu, found.made[call].chosen) == (dtype, on_gpu, False)


@pytest.mark.parametrize(
    ("snippet", "test"),
    [
        ("cuda = f()\nT = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n«T(3)»", "cuda"),
        ("T = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor\n«T(3)»", "torch.cuda.is_available()"),
        ("cuda = f()\nT = torch.cuda.FloatTensor if cuda else torch.FloatTensor\ncuda = g()\n«T(3)»", None),
        ("T = torch.cuda.FloatTensor if n > 2 else torch.FloatTensor\n«T(3)»", None),
    ],
)
def test_knows_what_chose_the_class_while_that_holds(snippet: str, test: str | None) -> None:
    found, [call] = constructors("import torch\n" + snippet)
    made = found.made[call]
    assert made.chosen and made.on_gpu and not made.else_on_gpu and made.dtype == "float32"
    assert (made.if_ and ast.unparse(made.if_)) == test


@pytest.mark.parametrize(
    "snippet",
    [
        "import torch\n«torch.tensor(3)»",
        "import torch\n«torch.cuda.Tensor(3)»",
        "def Tensor(x): ...\n«Tensor(3)»",
        "from .types import FloatTensor\n«FloatTensor(3)»",
        "import torch\nT = torch.cuda.FloatTensor if cuda else torch.LongTensor\n«T(3)»",
    ],
)
def test_knows_what_is_no_such_class(snippet: str) -> None:
    found, _ = constructors(snippet)
    assert not found.made


@pytest.mark.parametrize(
    ("snippet", "is_tensors"),
    [
        ("x = torch.zeros(3)\n«x.new(3)»", True),
        ("x = torch.zeros(3)\n«x.new(3, dtype=int)»", False),
        ("def f(x): «x.new(3)».zero_()", True),
        ("def f(x): «x.new(3)»", False),
        ("def f(x): «x.new(3)».resize_(3)", True),
        ("import hashlib\n«hashlib.new('md5')»", False),
        ("x = [3]\n«x.new(3)».zero_()", False),
    ],
)
def test_knows_the_new_of_tensors(snippet: str, is_tensors: bool) -> None:
    found, [call] = constructors("import torch\n" + snippet)
    assert (call in found.renewed) == is_tensors


@pytest.mark.parametrize(
    ("snippet", "is_found"),
    [
        ("«isinstance(x, torch.cuda.FloatTensor)»", True),
        ("from torch.cuda import LongTensor as L\n«isinstance(x, L)»", True),
        ("«isinstance(x, torch.FloatTensor)»", False),
        ("«isinstance(x, torch.cuda.Stream)»", False),
        ("«isinstance(x, (torch.cuda.FloatTensor, list))»", False),
    ],
)
def test_finds_tests_for_classes_on_the_gpu(snippet: str, is_found: bool) -> None:
    found, [call] = constructors("import torch\n" + snippet)
    assert (call in found.tests) == is_found


# --- what is given ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        *((arguments, Content.SIZES) for arguments in ("", "3", "2, 3", "*sizes", "x.size()", "x.shape[1:]", "size=s")),
        *((arguments, Content.SIZES) for arguments in ("torch.Size([2])", "x.size()[:1] + (2,)", "len(names)")),
        *((arguments, Content.SHAPE) for arguments in ("unknown.shape", "unknown.shape[:2]", "unknown.shape + (1,)")),
        *((arguments, Content.STORAGE) for arguments in ("x.storage()", "torch.UntypedStorage(3)", "storage", "storage, 0, s")),
        *((arguments, Content.LIST) for arguments in ("[1, 2]", "(1, 2)", "[f(y) for y in z]", "list(z)")),
        *((arguments, Content.ARRAY) for arguments in ("np.zeros(3)", "np.ones((2, 3)) + 1")),
        *((arguments, Content.LIST) for arguments in ("np.ones(3).shape", "np.ones((2, 3)).shape[1:]")),
        *((arguments, Content.TENSOR) for arguments in ("x", "x + 1")),
        *((arguments, Content.UNKNOWN) for arguments in ("unknown", "f(x)")),
    ],
)
def test_tells_sizes_from_data(arguments: str, content: Content) -> None:
    found, [call] = constructors(f"import numpy as np\nimport torch\nx = torch.zeros(3)\n«torch.FloatTensor({arguments})»")
    assert found.given(call).content is content


@pytest.mark.parametrize(
    ("expression", "sizes"),
    [
        ("«torch.Tensor(hidden_size)»", True),
        ("«torch.Tensor(options.num_classes)»", True),
        ("«torch.Tensor(options['dim'])»", True),
        ("«torch.Tensor(batchSize * 2)»", True),
        ("«torch.Tensor(env.num_actions())»", True),
        ("«torch.Tensor(y)».zero_()", True),
        ("«torch.Tensor(images)»", False),
        ("«torch.Tensor(y)».mean()", False),
    ],
)
def test_guesses_by_names_and_use(expression: str, sizes: bool) -> None:
    found, [call] = constructors(f"import torch\n\ndef f(hidden_size, options, batchSize, env, images, y):\n    {expression}")
    assert found.given(call).content is Content.UNKNOWN
    assert found.given(call).sizes == sizes


def test_an_argument_of_a_forward_may_be_a_list() -> None:
    text = "class A(nn.Module):\n    def forward(self, x, lengths):\n        return «torch.LongTensor(lengths)», x + 1"
    found, [call] = constructors(f"import torch\nfrom torch import nn\n{text}")
    given = found.given(call)
    assert (given.content, given.sizes) == (Content.UNKNOWN, False)


# --- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "selects"),
    [("x[mask]", True), ("x.masked_fill(mask, 0)", True), ("mask[x]", False), ("x + mask", False), ("x[mask + 1]", False)],
)
def test_tells_what_selects(use: str, selects: bool) -> None:
    found, [call] = constructors(f"import torch\nmask = «torch.ByteTensor([1, 0])»\n{use}")
    assert found.selects(call) == selects


@pytest.mark.parametrize(("line", "changes"), [("torch.set_default_dtype(t)", True), ("# set_default_dtype\n", False)])
def test_tells_whether_the_default_dtype_is_set(line: str, changes: bool) -> None:
    found, _ = constructors(f"import torch\n{line}")
    assert found.changes_default_dtype == changes
