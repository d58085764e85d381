"""What is deprecated or gone, under all the names that people give it; and what only sounds like it."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.deprecated_uses import DeprecatedUses
from torchlint.semantics.apis.unused_imports import UnusedImports

AUTOCAST = "torch.cuda.amp.autocast"
TRAIN_DATA = "torchvision.datasets.MNIST.train_data"
HOOK = "torch.nn.Module.register_backward_hook"


@pytest.mark.parametrize(
    ("snippet", "symbol"),
    [
        # names
        ("import torch\nwith «torch.cuda.amp.autocast»(): ...", AUTOCAST),
        ("import torch as t\nwith «t.cuda.amp.autocast»(): ...", AUTOCAST),
        ("import torch.cuda.amp as mixed\nwith «mixed.autocast»(): ...", AUTOCAST),
        ("from torch.cuda import amp\nwith «amp.autocast»(): ...", AUTOCAST),
        ("from torch.cuda.amp import autocast as cast\n@«cast»()\ndef f(): ...", AUTOCAST),
        ("import torch\n@«torch.cuda.amp.autocast»()\ndef f(): ...", AUTOCAST),
        ("import torch\ncast = «torch.cuda.amp.autocast»\ncast()", AUTOCAST),
        ("import torch\ncast = torch.cuda.amp.autocast\n«cast»()", AUTOCAST),
        ("import torch\namp = torch.cuda.amp\n«amp.autocast»()", AUTOCAST),
        ("from torch import nn\nclass Old(«nn.Container»): ...", "torch.nn.Container"),
        ("from torch.nn.modules.container import Container\nclass Old(«Container»): ...", "torch.nn.Container"),
        ("import torch\nf = «getattr(torch, 'ger')»", "torch.ger"),
        ("import torch\ndevice = 'mps' if «torch.has_mps» else 'cpu'", "torch.has_mps"),
        ("import torch\ndevice = 'mps' if «torch.backends.mps.is_available» else 'cpu'", ""),
        ("import torch\nf = «getattr(torch.cuda.amp, 'autocast')»()", AUTOCAST),
        # members of what the file makes
        ("from torchvision import datasets\nd = datasets.MNIST('x')\n«d.train_data»", TRAIN_DATA),
        ("from torchvision import datasets\nd = datasets.MNIST('x')\n«d.train_data» = y", TRAIN_DATA),
        ("from torchvision.datasets import KMNIST\n«KMNIST('x').train_data»", TRAIN_DATA),
        ("from torchvision import datasets\nclass D(datasets.MNIST):\n    def f(self): return «self.train_data»", TRAIN_DATA),
        ("from torchvision import datasets\nclass D(datasets.MNIST): ...\n«D('x').train_data»", TRAIN_DATA),
        ("from torch import nn\nlayer = nn.Linear(2, 2)\n«layer.register_backward_hook»(f)", HOOK),
        ("from torch import nn\nclass N(nn.Module):\n    def f(self): «self.register_backward_hook»(g)", HOOK),
        ("from torch import nn\nfor m in nn.Linear(2, 2).modules(): «m.register_backward_hook»(f)", HOOK),
        ("import torch\nx = torch.ones(2)\n«x.storage»()", "torch.Tensor.storage"),
        ("import torch\ndef f(x: torch.Tensor): «x.storage»()", "torch.Tensor.storage"),
        (
            "from torch.distributions import Normal\nn = Normal(0., 1.)\n«n.sample_n»(3)",
            "torch.distributions.Distribution.sample_n",
        ),
        # look-alikes
        ("import torch\nwith «torch.amp.autocast»('cuda'): ...", ""),
        ("from .amp import autocast\nwith «autocast»(): ...", ""),
        ("from ..torch.cuda.amp import autocast\nwith «autocast»(): ...", ""),
        ("from torch.cuda.amp import autocast\nfrom mine import autocast\nwith «autocast»(): ...", ""),
        ("from torch.cuda.amp import autocast\ndef f(autocast): «autocast»()", ""),
        ("import torch\ndef f(torch): «torch.ger»(x)", ""),
        ("import torch\nclass A:\n    torch = other\n    def f(self): «self.torch.ger»(x)", ""),
        (
            "try:\n    from torch.amp import autocast\n"
            "except ImportError:\n    from torch.cuda.amp import autocast\n«autocast»()",
            "",
        ),
        ("import torch\nf = «getattr(torch, 'ger', None)»", ""),
        ("import torch\nf = «getattr(torch, name)»", ""),
        ("f = «getattr(mine, 'ger')»", ""),
        ("def f(d): «d.train_data»", ""),
        ("import torch\nx = torch.ones(2)\n«x.storage» = y", ""),
        ("class D:\n    train_data = []\n«D().train_data»", ""),
        ("from torchvision import datasets\nd = datasets.CIFAR10('x')\n«d.train_data»", ""),
        (
            "from torchvision import datasets\nclass D(datasets.MNIST):\n    def __init__(self): self.train_data = []\n"
            "    def f(self): return «self.train_data»",
            "",
        ),
        (
            "from torch import nn\nclass N(nn.Module):\n    def register_backward_hook(self): ...\n"
            "«N().register_backward_hook»()",
            "",
        ),
        ("def f(model): «model.register_backward_hook»(g)", ""),
        ("def f(x): «x.storage»()", ""),
        ("import numpy as np\nx = np.ones(2)\n«x.storage»()", ""),
        ("d = {}\n«d.train_data»", ""),
    ],
)
def test_uses(snippet: str, symbol: str) -> None:
    semantics, [node] = marked(snippet)
    assert isinstance(node, ast.expr)
    assert semantics.of(DeprecatedUses).found.get(node, "") == symbol


@pytest.mark.parametrize(
    ("snippet", "gone"),
    [
        ("from torchvision.transforms.functional_tensor import rgb_to_grayscale", True),
        ("from torchvision.transforms import functional_tensor", False),  # its uses are reported
        ("from torchvision.transforms.functional import rgb_to_grayscale", False),
        ("from .transforms.functional_tensor import rgb_to_grayscale", False),
        ("from torch.fft import rfft", False),  # a function once, a module now
        ("from torch.nn.utils.weight_norm import WeightNorm", False),
        ("from torch._six import inf", True),
        ("from torch.utils import ffi", True),
        ("from torch.autograd.gradcheck import gradcheck, zero_gradients", True),
        ("from torch.autograd.gradcheck import gradcheck", False),
        ("from torch.utils.data.dataloader import default_collate", False),
        ("from .dataloader import _DataLoaderIter", False),
        ("from six import string_classes", False),
    ],
)
def test_imports_from_modules_that_go(snippet: str, gone: bool) -> None:
    semantics, _ = marked(snippet)
    assert bool(semantics.of(DeprecatedUses).imports) is gone


@pytest.mark.parametrize(
    ("snippet", "left_over"),
    [
        ("from torch.cuda.amp import autocast", True),
        ("from torch.cuda.amp import autocast, GradScaler\nGradScaler()", True),
        ("from torch.cuda.amp import autocast as cast", True),
        ("from torch.cuda.amp import autocast\nautocast()", False),
        ("from torch.cuda.amp import autocast\ndef f():\n    return autocast", False),
        ("from torch.cuda.amp import autocast\n__all__ = ['autocast']", False),
        ("from torch.cuda.amp import autocast\nx: 'autocast' = None", False),
        ("from torch.cuda.amp import autocast\nprint('how to autocast')", True),
        ("try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    HAS_AMP = False", False),
        ("if x:\n    from torch.cuda.amp import autocast", True),
        ("from .cuda.amp import autocast", False),
        ("from torch.amp import autocast", False),
        ("import a, b, c, d\nfrom torch.cuda.amp import autocast", False),  # a file that imports for others
    ],
)
def test_imports_that_nothing_uses(snippet: str, left_over: bool) -> None:
    semantics, _ = marked(snippet)
    assert bool(semantics.of(UnusedImports).deprecated) is left_over


@pytest.mark.parametrize(
    ("snippet", "conditional"),
    [
        ("import torch\n«torch.symeig»(x)", False),
        ("from torch import symeig\n«symeig»(x)", False),
        ("try:\n    from torch import symeig\nexcept ImportError:\n    symeig = None\n«symeig»(x)", True),
        ("try:\n    from torch import symeig\nexcept ImportError:\n    pass\n«symeig»(x)", True),
        ("if x:\n    from torch import symeig\nelse:\n    from mine import symeig\n«symeig»(x)", True),
    ],
)
def test_what_may_be_something_else(snippet: str, conditional: bool) -> None:
    semantics, [node] = marked(snippet)
    assert isinstance(node, ast.expr)
    assert semantics.of(DeprecatedUses).is_conditional(node) is conditional


@pytest.mark.parametrize(
    ("snippet", "is_quiet"),
    [
        ("def f(x: «torch.cuda.amp.GradScaler»): ...", True),
        ("def f(*x: «torch.cuda.amp.GradScaler» | None): ...", True),
        ("def f(x) -> list[«torch.cuda.amp.GradScaler»]: ...", True),
        ("x: «torch.cuda.amp.GradScaler» = y", True),
        ("x: int = «torch.cuda.amp.GradScaler»()", False),
        ("def f(x=«torch.cuda.amp.GradScaler»()): ...", False),
        ("def f(x: Annotated[int, «torch.cuda.amp.GradScaler»()]): ...", False),
        ("x = «torch.norm»(y)", True),
    ],
)
def test_what_warns_nobody(snippet: str, is_quiet: bool) -> None:
    semantics, (node,) = marked(f"import torch\n{snippet}")
    assert isinstance(node, ast.expr)
    assert (node in semantics.of(DeprecatedUses).quiet) is is_quiet


RATE = "from torch.optim.lr_scheduler import StepLR\ns = StepLR(o, 3)\n{}print(«s.get_lr»())"


@pytest.mark.parametrize(
    ("snippet", "is_quiet"),
    [
        (RATE.format(""), False),
        (RATE.format("s.last_epoch = 7\n"), True),  # its last rate is that of an epoch before
        (RATE.format("other.last_epoch = 7\n"), False),
        (RATE.format("print(s.last_epoch)\n"), False),
        ("import torch\n«torch.quantization.prepare»(net)", True),  # to be replaced by another library
        ("import torch\n«torch.cuda.amp.autocast»()", False),
    ],
)
def test_what_nobody_changes_is_quiet(snippet: str, is_quiet: bool) -> None:
    semantics, (node,) = marked(snippet)
    uses = semantics.of(DeprecatedUses)
    assert node in uses.found
    assert (node in uses.quiet) is is_quiet


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        ("«x.resize»(2, 2)", True),
        ("«x.resize»((2, 2))", True),
        ("«x.resize»(size, 2)", True),
        ("«x.resize»(*sizes)", True),
        ("resized(«x.resize», (2, 2), resample=0)", True),
        ("«x.resize»(size=(2, 2), resample=0)", False),  # of an image: that of a tensor takes nothing by name
        ("«x.resize»((2, 2), Image.NEAREST)", False),
    ],
)
def test_resized_images_are_no_tensors(call: str, is_found: bool) -> None:
    semantics, (node,) = marked(f"import torch\nfrom PIL import Image\nx = torch.zeros(4)\ny = {call}")
    assert isinstance(node, ast.expr)
    assert (node in semantics.of(DeprecatedUses).found) is is_found
