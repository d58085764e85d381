"""TPL105 to TPL107: the tables against torch itself, targets, and shapes that a fixture cannot hold."""

from __future__ import annotations

import inspect
import warnings
from itertools import product
from textwrap import dedent
from typing import Any

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.legacy.spellings.pretrained import Builder, builder
from torchlint.rules.legacy.spellings.renamed import RENAMED
from torchlint.semantics.apis.implicit_dims import implicit_dim
from torchlint.semantics.apis.loss_flags import losses
from torchlint.target import NEWEST, TorchVersion
from torchlint.text.source import Source


def rules(*codes: str) -> list[Entry]:
    return [rule for rule in all_rules() if rule.code in codes]


def fixed(text: str, code: str) -> str:
    return fix(Source(dedent(text)), rules(code), Applicability.UNSAFE).text


def found(text: str, code: str, target: TorchVersion = NEWEST) -> list[str]:
    return [diagnostic.message for diagnostic in lint(Source(dedent(text)), rules(code), Options(target=target))]


def resolved(name: str) -> Any:
    """The object of torch with that dotted name."""
    found: Any = pytest.importorskip("torch")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


# --- what torch says -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in losses() if not name.endswith("nll_loss2d")])
def test_losses_have_these_parameters(name: str) -> None:
    loss = resolved(name)
    signature = list(inspect.signature(loss.__init__ if inspect.isclass(loss) else loss).parameters)
    taken = [parameter for parameter in signature if parameter not in ("self", "label_smoothing", "log_target", "beta")]
    given = losses()[name]
    assert given[-1] == "reduction" and {"size_average", "reduce"} <= {*given}
    assert [each if said else "" for each, said in zip(taken, given)] == [*given]


@pytest.mark.parametrize(("average", "reduce"), list(product((None, True, False), repeat=2)))
def test_flags_mean_what_torch_takes_them_for(average: bool | None, reduce: bool | None) -> None:
    torch = pytest.importorskip("torch")
    text = f"import torch.nn.functional as F\n\nF.mse_loss(a, b, size_average={average}, reduce={reduce})\n"
    written = fixed(text, "TPL106")
    reduction = written.partition('reduction="')[2].partition('"')[0] or "mean"
    input, target = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 7.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = torch.nn.functional.mse_loss(input, target, size_average=average, reduce=reduce)
    assert torch.equal(torch.nn.functional.mse_loss(input, target, reduction=reduction), old)


@pytest.mark.parametrize("rank", range(6))
def test_softmax_picks_this_dimension(rank: int) -> None:
    torch = pytest.importorskip("torch")
    values = torch.arange(2.0**rank).reshape([2] * rank)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        picked = torch.nn.functional.softmax(values)
    assert torch.equal(picked, torch.softmax(values, implicit_dim(rank)))


@pytest.mark.parametrize("name", RENAMED)
def test_new_names_are_there(name: str) -> None:
    assert callable(resolved(RENAMED[name].new))


@pytest.mark.parametrize("name", [name for name in RENAMED if name.startswith("torch.nn.init.")])
def test_old_initialisers_warn(name: str) -> None:
    torch = pytest.importorskip("torch")
    arguments = {"constant": (1.0,), "sparse": (0.5,)}.get(name.rpartition(".")[2], ())
    weight = torch.zeros(2, 2, 2) if name.endswith("dirac") else torch.zeros(2, 2)
    with pytest.warns(FutureWarning, match="is now deprecated"):
        resolved(name)(weight, *arguments)


# --- targets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("F.mse_loss(a, b, size_average=False)", TorchVersion(1, 0)),
        ("F.upsample(a, scale_factor=2)", TorchVersion(1, 0)),
        ("nn.NLLLoss2d()", TorchVersion(1, 0)),
        ("nn.utils.clip_grad_norm(parameters, 1)", TorchVersion(0, 4)),
        ("F.softmax(a)", TorchVersion(0, 4)),
    ],
)
def test_older_torch_has_no_other_way(line: str, first: TorchVersion) -> None:
    text = f"import torch.nn as nn\nimport torch.nn.functional as F\n\n{line}\n"
    assert len(found(text, "TPL106", first)) == 1
    assert found(text, "TPL106", TorchVersion(0, 3)) == []
    assert bool(found(text, "TPL106", TorchVersion(0, 4))) == (first <= TorchVersion(0, 4))


def test_as_tensor_is_not_older_than_torch_1() -> None:
    text = "import numpy as np\nimport torch\n\ntorch.FloatTensor(np.zeros(3))\n"
    assert "use `torch.tensor(…, dtype=torch.float32)`" in found(text, "TPL105", TorchVersion(0, 4))[0]
    assert "use `torch.as_tensor(…, dtype=torch.float32)`" in found(text, "TPL105", TorchVersion(1, 0))[0]


def test_masks_are_bytes_before_torch_1_2() -> None:
    text = "import torch\n\nmask = torch.ByteTensor([1, 0])\nprint(x[mask])\n"
    assert "dtype=torch.uint8" in found(text, "TPL105", TorchVersion(1, 1))[0]
    assert "dtype=torch.bool" in found(text, "TPL105", TorchVersion(1, 2))[0]


def test_weights_came_with_torchvision_0_13() -> None:
    text = "from torchvision import models\n\nmodels.resnet18(pretrained=True)\n"
    assert found(text, "TPL107", TorchVersion(1, 11)) == []
    assert len(found(text, "TPL107", TorchVersion(1, 12))) == 1


# --- screens ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        *("nn.MSELoss(False)", "nn.CrossEntropyLoss(weight, flag)", "nn.L1Loss(flag)", "F.nll_loss(a, b, None, False)"),
        *("F.mse_loss(a, b, flag)", "F.kl_div(a, b, False)", "loss.backward(retain_variables=True)", "nn.Softmax( )"),
        *("F.softmax(x.view(2, 3))", "F.log_softmax(input=x)", "F.softmax(x, dim=None)", "init.eye(w)", "F.tanh(x)"),
        *("w.data.add_(lr, g)", "torch.addmm(1, a, 2, b, c)", "torch.zeros(3).multinomial()", "F.upsample_nearest(x, 2)"),
    ],
)
def test_each_finding_alone_passes_the_screen(line: str) -> None:
    text = f"import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.nn import init\n\n{line}\n"
    assert len(found(text, "TPL106")) == 1


# --- imports and names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from torch.nn.init import normal\nnormal(w)\nnormal(b)\n",
            "from torch.nn.init import normal_\nnormal_(w)\nnormal_(b)\n",
            id="the import and all uses",
        ),
        pytest.param(
            "from torch.nn.init import normal as fill\nfill(w)\n",
            "from torch.nn.init import normal_ as fill\nfill(w)\n",
            id="an alias keeps its name",
        ),
        pytest.param(
            "from torch.nn.init import normal, normal_\nnormal(w)\nnormal_(b)\n",
            "from torch.nn.init import normal_\nnormal_(w)\nnormal_(b)\n",
            id="both are imported",
        ),
        pytest.param(
            "from torch.nn.functional import relu, sigmoid\nsigmoid(relu(x))\n",
            "import torch\nfrom torch.nn.functional import relu\ntorch.sigmoid(relu(x))\n",
            id="another module",
        ),
        pytest.param(
            "def f(w):\n    from torch.nn.utils import clip_grad_norm\n    clip_grad_norm(w, 1)\n",
            "def f(w):\n    from torch.nn.utils import clip_grad_norm_\n    clip_grad_norm_(w, 1)\n",
            id="in a function",
        ),
        pytest.param(
            "from torch.nn.init import *\nimport torch.nn as nn\nnn.init.normal(w)\n",
            "from torch.nn.init import *\nimport torch.nn as nn\nnn.init.normal_(w)\n",
            id="beside a star",
        ),
    ],
)
def test_renames_what_was_imported(before: str, after: str) -> None:
    assert fixed(before, "TPL106") == after


def test_does_not_rename_over_another_name() -> None:
    text = "from torch.nn.init import normal\n\n\ndef normal_(x):\n    return x\n\n\nnormal(w)\n"
    assert fixed(text, "TPL106") == text
    assert len(found(text, "TPL106")) == 1


def test_quotes_are_those_of_the_file() -> None:
    assert fixed("import torch.nn as nn\nprint('a')\nnn.MSELoss(False)\n", "TPL106").endswith("nn.MSELoss(reduction='sum')\n")


def test_default_dtype_is_asked_for_where_the_file_sets_it() -> None:
    text = "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.Tensor([1, 2])\n"
    assert fixed(text, "TPL105").endswith("torch.tensor([1, 2], dtype=torch.get_default_dtype())\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torchvision.models.resnet18", Builder("IMAGENET1K_V1")),
        ("torchvision.models.resnet.resnet18", Builder("IMAGENET1K_V1")),
        ("torchvision.models.detection.faster_rcnn.fasterrcnn_resnet50_fpn", Builder("COCO_V1", "IMAGENET1K_V1")),
        ("torchvision.models.regnet_y_128gf", Builder(None)),
        ("torchvision.models.detection.resnet18", None),
        ("torchvision.models.ResNet18_Weights", None),
        ("timm.models.resnet18", None),
    ],
)
def test_builders_of_torchvision(name: str, expected: Builder | None) -> None:
    assert builder(name) == expected
