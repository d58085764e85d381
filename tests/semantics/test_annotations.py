"""What an annotation says of a value."""

from __future__ import annotations

import pytest

from marked import kind

HEADER = """
import torch
import torch as t
from torch import Tensor, nn
from typing import *
import numpy as np
from transformers import BertModel, LlamaForCausalLM, TFBertModel, BertTokenizer
import transformers
class Net(nn.Module): pass
class Point: pass
"""


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("torch.Tensor", "tensor"),
        ("Tensor", "tensor"),
        ("t.Tensor", "tensor"),
        ("torch.LongTensor", "tensor"),
        ("torch.cuda.FloatTensor", "tensor"),
        ("torch.autograd.Variable", "tensor"),
        ("nn.Parameter", "tensor leaf"),
        ("'Tensor'", "tensor"),
        ("'torch.Tensor'", "tensor"),
        ("'t.Tensor'", "tensor"),
        ("'Optional[Tensor]'", "tensor"),
        ("'torch.Tensor | None'", "tensor"),
        ("'List[Tensor]'", "[tensor]"),
        ("Optional[Tensor]", "tensor"),
        ("Tensor | None", "tensor"),
        ("Union[Tensor, None]", "tensor"),
        ("Union[Tensor, float]", "tensor"),
        ("Union[Tensor, np.ndarray]", "unknown"),
        ("Annotated[Tensor, 'b c']", "tensor"),
        ("list[Tensor]", "[tensor]"),
        ("List[Tensor]", "[tensor]"),
        ("Sequence[Tensor]", "[tensor]"),
        ("Iterator[Tensor]", "[tensor]"),
        ("LlamaForCausalLM", "module"),
        ("transformers.models.bert.BertModel", "module"),
        ("BertModel | None", "module"),
        ("TFBertModel", "instance"),
        ("BertTokenizer", "instance"),
        ("tuple[Tensor, int]", "(tensor, number)"),
        ("Tuple[Tensor, ...]", "[tensor]"),
        ("dict[str, Tensor]", "{tensor}"),
        ("Dict[str, List[Tensor]]", "{[tensor]}"),
        ("int", "number"),
        ("float", "number"),
        ("str", "string"),
        ("None", "None"),
        ("np.ndarray", "array"),
        ("nn.Module", "module"),
        ("nn.Linear", "module"),
        ("Net", "module"),
        ("'Net'", "module"),
        ("'nn.Module'", "module"),
        ("Point", "instance"),
        ("'Point'", "instance"),
        ("torch.optim.Optimizer", "optimizer"),
        ("torch.optim.lr_scheduler.LRScheduler", "scheduler"),
        ("torch.utils.data.DataLoader", "data loader"),
        ("torch.nn.utils.rnn.PackedSequence", "packed sequence"),
        ("Any", "unknown"),
        ("Callable[[int], Tensor]", "unknown"),
        ("'not python'", "unknown"),
        ("'\"Tensor\"'", "unknown"),
        ("''", "unknown"),
        ("f()", "unknown"),
        ("3", "unknown"),
    ],
)
def test_annotations(annotation: str, expected: str) -> None:
    assert kind(HEADER + f"def f(x: {annotation}): return «x»") == expected
    assert kind(HEADER + f"def f(y):\n    x: {annotation} = y\n    return «x»") == expected


@pytest.mark.parametrize(
    "annotation",
    [
        ("tf.Tensor", "import tensorflow as tf"),
        ("NestedTensor", "from util.misc import NestedTensor"),
        ("SparseTensor", "from torch_sparse import SparseTensor"),
        ("Tensor", "from paddle import Tensor"),
        ("'Tensor'", "from paddle import Tensor"),
        ("Data", "from torch_geometric.data import Data"),
    ],
)
def test_classes_that_are_not_torchs_tensor(annotation: tuple[str, str]) -> None:
    text, imports = annotation
    assert not kind(f"{imports}\ndef f(x: {text}): return «x»").startswith("tensor")


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def f() -> Tensor: return g()\n«f()»", "tensor"),
        ("def f(x: Tensor = None): return «x»", "tensor"),
        ("def f(*, x: Tensor): return «x»", "tensor"),
        ("class A:\n    x: Tensor\n    def f(self): return «self.x»", "tensor"),
        ("class A:\n    def __init__(self): self.x: Tensor = g()\n    def f(self): return «self.x»", "tensor"),
        ("x: Tensor = torch.zeros(3)\n«x»", "tensor nograd"),
        ("x: Tensor = nn.Parameter(y)\n«x»", "tensor leaf"),
        ("def f(xs: List[Tensor]):\n    for x in xs: «x»", "tensor"),
        ("def f(xs: Dict[str, Tensor]):\n    for k, x in xs.items(): «x»", "tensor"),
        ("def f(x: Tuple[Tensor, int]):\n    a, b = x\n    «b»", "number"),
        ("def f(m: nn.Module):\n    y = m(1)\n    «y»", "tensor graph loose"),
        ("def f(o: torch.optim.Optimizer):\n    for g in o.param_groups:\n        for p in g['params']: «p»", "tensor leaf"),
        ("def f(*xs: Tensor):\n    «xs»", "[tensor]"),
        ("def f(*xs: Tensor):\n    for x in xs:\n        «x»", "tensor"),
        ("def f(**xs: Tensor):\n    for x in xs.values():\n        «x»", "tensor"),
        ("def f(*xs: int):\n    «xs»", "[number]"),
    ],
)
def test_where_annotations_stand(snippet: str, expected: str) -> None:
    assert kind(HEADER + snippet) == expected
