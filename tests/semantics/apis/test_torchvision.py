"""Which functions of torchvision a file calls to make a model."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.apis.torchvision import TorchvisionModels


def made(snippet: str) -> list[str]:
    """The functions of the calls that make models, in the order of the text."""
    semantics, _ = marked(snippet)
    return list(semantics.of(TorchvisionModels).made.values())


@pytest.mark.parametrize(
    ("snippet", "function"),
    [
        pytest.param("from torchvision import models\nmodels.resnet18(True)", "resnet18", id="from the module"),
        pytest.param("import torchvision.models as zoo\nzoo.vgg16()", "vgg16", id="a module by another name"),
        pytest.param("from torchvision.models import resnet18 as make\nmake()", "resnet18", id="a function by another name"),
        pytest.param("from torchvision import models\nmake = models.vgg16\nmake(True)", "vgg16", id="a name given to it"),
        pytest.param("from torchvision.models.vgg import vgg16\nvgg16()", "vgg.vgg16", id="a submodule"),
        pytest.param("models.resnet18(pretrained=True)", "resnet18", id="a snippet without imports"),
        pytest.param("from torchvision import models\nmodels.__dict__[arch](True)", "*", id="looked up in the module"),
        pytest.param("from torchvision import models\ngetattr(models, arch)(True)", "*", id="looked up by getattr"),
        pytest.param(
            "import functools\nfrom torchvision import models\nfunctools.partial(models.vgg16, pretrained=True)",
            "vgg16",
            id="partial",
        ),
    ],
)
def test_finds_what_makes_a_model(snippet: str, function: str) -> None:
    assert made(snippet) == [f"torchvision.models.{function}"]


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param("import timm.models as models\nmodels.resnet18(pretrained=True)", id="another library's models"),
        pytest.param("from . import models\nmodels.resnet18(pretrained=True)", id="the project's own"),
        pytest.param("def resnet18(flag): ...\nresnet18(True)", id="the file's own"),
        pytest.param("def f(models): models.resnet18(True)", id="a parameter"),
        pytest.param("import torchvision\ntorchvision.transforms.Resize(3)", id="no model"),
        pytest.param("getattr(args, 'models')(True)", id="looked up elsewhere"),
    ],
)
def test_finds_nothing_else(snippet: str) -> None:
    assert made(snippet) == []
