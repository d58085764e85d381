"""What names and chains of attributes refer to."""

from __future__ import annotations

import pytest

from marked import marked


def qualified(snippet: str) -> str | None:
    semantics, (node,) = marked(snippet)
    return semantics.qualified_name(node)


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("import torch\n«torch.relu»", "torch.relu"),
        ("import torch as t\n«t.nn.Linear»", "torch.nn.Linear"),
        ("import torch.nn.functional\n«torch.nn.functional.relu»", "torch.nn.functional.relu"),
        ("import torch.nn.functional as fn\n«fn.relu»", "torch.nn.functional.relu"),
        ("from torch import nn\n«nn.Module»", "torch.nn.Module"),
        ("from torch import nn as neural\n«neural.Module»", "torch.nn.Module"),
        ("from torch.nn import functional as F\n«F.relu»", "torch.nn.functional.relu"),
        ("from torch.autograd import Variable as V\n«V»", "torch.autograd.Variable"),
        ("from torch.autograd.variable import Variable\n«Variable»", "torch.autograd.Variable"),
        ("from torch.nn.modules.loss import L1Loss\n«L1Loss»", "torch.nn.L1Loss"),
        ("from torch.nn.parameter import Parameter\n«Parameter»", "torch.nn.Parameter"),
        ("from torch.optim.sgd import SGD\n«SGD»", "torch.optim.SGD"),
        ("from torch.optim.lr_scheduler import StepLR\n«StepLR»", "torch.optim.lr_scheduler.StepLR"),
        ("from torch.nn.parallel import DataParallel\n«DataParallel»", "torch.nn.DataParallel"),
        ("from torch.utils.data.dataloader import DataLoader\n«DataLoader»", "torch.utils.data.DataLoader"),
        ("import numpy as np\n«np.array»", "numpy.array"),
        ("import os.path\n«os.path.join»", "os.path.join"),
    ],
)
def test_imports(snippet: str, name: str) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("from . import layers\n«layers.Block»", ".layers.Block"),
        ("from .layers import Block\n«Block»", ".layers.Block"),
        ("from .. import layers\n«layers»", "..layers"),
        ("from ..models.layers import Block as B\n«B»", "..models.layers.Block"),
        ("from .torch import relu\n«relu»", ".torch.relu"),
    ],
)
def test_relative_imports_keep_their_dots(snippet: str, name: str) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("def f():\n    import torch as t\n    «t.relu»(x)", "torch.relu"),
        ("def f():\n    import torch as t\n«t.relu»", "builtins.t.relu"),
        ("class A:\n    import torch as t\n    y = «t.relu»", "torch.relu"),
        ("class A:\n    import torch as t\n    def f(self): return «t.relu»", "builtins.t.relu"),
        ("if cuda:\n    from torch.cuda import FloatTensor\n«FloatTensor»", "torch.cuda.FloatTensor"),
        ("relu = torch.relu\n«relu»", "torch.relu"),
        ("from torch import nn\nL = nn\nM = L.Linear\n«M»", "torch.nn.Linear"),
        ("def f():\n    crit = F.mse_loss\n    return «crit»(x, y)", "torch.nn.functional.mse_loss"),
        ("class A:\n    F = torch.nn.functional\n    y = «F.relu»(1)", "torch.nn.functional.relu"),
    ],
)
def test_scopes_and_aliases(snippet: str, name: str) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n«torch.relu»", "torch.relu"),
        ("try:\n    from torch import compile\nexcept ImportError:\n    def compile(m): return m\n«compile»", "torch.compile"),
        ("try:\n    from x import Loss\nexcept ImportError:\n    class Loss: pass\n«Loss»", "x.Loss"),
        ("try:\n    from apex import amp\nexcept ImportError:\n    from torch.cuda import amp\n«amp»", "torch.cuda.amp"),
        ("try:\n    import a as b\nexcept ImportError:\n    import c as b\n«b»", "a"),
        ("try:\n    import a as b\nexcept ImportError:\n    b = make()\n«b»", None),
    ],
)
def test_imports_that_may_fail(snippet: str, name: str | None) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("from torch.nn import *\n«Linear»", "torch.nn.Linear"),
        ("from torch.nn.functional import *\n«relu»", "torch.nn.functional.relu"),
        ("from torch import *\n«relu»", "torch.relu"),
        ("from torch.optim import *\n«SGD»", "torch.optim.SGD"),
        ("from torch.autograd import *\n«Variable»", "torch.autograd.Variable"),
        ("from torch.nn import *\n«Liner»", "builtins.Liner"),
        ("from helpers import *\n«torch.relu»", "torch.relu"),
        ("from helpers import *\n«Variable»", "torch.autograd.Variable"),
    ],
)
def test_star_imports(snippet: str, name: str) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.relu", "torch.relu"),
        ("nn.Linear", "torch.nn.Linear"),
        ("F.relu", "torch.nn.functional.relu"),
        ("optim.SGD", "torch.optim.SGD"),
        ("np.array", "numpy.array"),
        ("Variable", "torch.autograd.Variable"),
        ("DataLoader", "torch.utils.data.DataLoader"),
        ("autograd.grad", "torch.autograd.grad"),
        ("print", "builtins.print"),
        ("helper", "builtins.helper"),
    ],
)
def test_names_bound_nowhere_resolve_by_convention(name: str, expected: str) -> None:
    assert qualified(f"«{name}»") == expected
    assert qualified(f"def f():\n    return «{name}»") == expected


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(torch):\n    «torch.relu»",
        "def f(*torch):\n    «torch.relu»",
        "def f(**torch):\n    «torch.relu»",
        "f = lambda F: «F.relu»",
        "def f():\n    F = make()\n    «F.relu»",
        "for F in models:\n    «F.relu»",
        "[«F.relu» for F in models]",
        "[1 for m in ms for F in m if «F.relu»]",
        "{F: «F.relu» for F in models}",
        "class nn: pass\n«nn.Linear»",
        "def F(x): pass\n«F.relu»",
        "with open(p) as F:\n    «F.relu»",
        "try: pass\nexcept E as F:\n    «F.relu»",
        "match x:\n    case [F, *_]:\n        «F.relu»",
        "match x:\n    case {**F}:\n        «F.relu»",
        "if (F := make()):\n    «F.relu»",
        "import torch\ntorch = wrap(torch)\n«torch.relu»",
        "import torch\ndel torch\n«torch.relu»",
        "import torch\ndef f():\n    torch = 1\n    def g():\n        return «torch.relu»",
        "import torch\ndef f():\n    global torch\n    torch = 1\n«torch.relu»",
        "import torch\ndef f():\n    for torch in x:\n        «torch.relu»",
        "a, F = make()\n«F.relu»",
        "(lambda: «torch.x»)\ntorch = 1",
    ],
)
def test_shadowed_names_refer_to_no_api(snippet: str) -> None:
    assert qualified(snippet) is None


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("import torch\n[torch for torch in xs]\n«torch.relu»", "torch.relu"),
        ("import torch\n[t for t in «torch.relu»(torch)]", "torch.relu"),
        ("import torch\n[torch for torch in «torch.all»(x)]", "torch.all"),
        ("import torch\ndef f(torch): pass\n«torch.relu»", "torch.relu"),
        ("import torch\ndef f(torch=«torch.e»): pass", "torch.e"),
        ("import torch\n@«torch.no_grad»()\ndef f(torch): pass", "torch.no_grad"),
        ("import torch\nclass A:\n    torch = 1\n    def f(self): return «torch.relu»", "torch.relu"),
        ("import torch\nclass A:\n    torch = 1\n    x = [«torch.relu» for i in y]", "torch.relu"),
        ("import torch\ntry: pass\nexcept E as torch: pass\n«torch.relu»", "torch.relu"),
        ("import torch as x\ndef f(x: «x.Tensor»): pass", "torch.Tensor"),
    ],
)
def test_what_a_shadow_does_not_reach(snippet: str, name: str) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        ("import tensorflow as tf\n«Variable»", "builtins.Variable"),
        ("from chainer import *\n«Variable»", "builtins.Variable"),
        ("from tkinter import *\n«Variable»", "builtins.Variable"),
        ("import tensorflow as tf\nimport torch\n«Variable»", "torch.autograd.Variable"),
        ("import torch\nfrom tkinter import *\n«Variable»(root)", "builtins.Variable"),
        ("import torch\nfrom tkinter import *\nfrom torch.autograd import *\n«Variable»(x)", "torch.autograd.Variable"),
        ("import torch\nfrom utils import *\n«Variable»(root, value=3)", "builtins.Variable"),
        ("import torch\nfrom utils import *\n«Variable»(f'x{i}')", "builtins.Variable"),
        ("import torch\nfrom utils import *\n«Variable»(x, requires_grad=True)", "torch.autograd.Variable"),
        ("import torch\nfrom utils import *\n«Variable»(x, **options)", "torch.autograd.Variable"),
        ("import tensorflow as tf\n«tf.Variable»", "tensorflow.Variable"),
        ("from chainer import Variable\n«Variable»", "chainer.Variable"),
        ("class Variable: pass\n«Variable.x»", None),
    ],
)
def test_the_variable_of_another_framework(snippet: str, name: str | None) -> None:
    assert qualified(snippet) == name


@pytest.mark.parametrize("snippet", ["«f().relu»", "«a[0].relu»", "«'a'.join»", "«1»", "«f()»", "«(a + b).c»"])
def test_what_is_no_chain_of_names_has_no_name(snippet: str) -> None:
    assert qualified(snippet) is None


def test_an_alias_of_itself_refers_to_nothing() -> None:
    assert qualified("for i in x:\n    a = b\n    b = a\n«a.c»") is None


def test_a_chain_longer_than_any_name_refers_to_nothing() -> None:
    assert qualified(f"import torch\n«torch{'.a' * 64}»") == "torch" + ".a" * 64
    assert qualified(f"import torch\n«torch{'.a' * 65}»") is None
