"""Programs that use what torchvision and torchaudio deprecate and what there is something else for, one list for each row.

In a program ``OLD`` stands for the name in question, and ``made`` is what is looked at afterwards.
"""

from __future__ import annotations

from torchlint.semantics.apis.deprecations import Deprecation, deprecations

_MODEL = "from {owner} import {name}\n\nmade = {name}({arguments})\n"  # a function may hide the module of its name
_TENSOR = "import torch\nimport {owner}\n\nx = torch.rand(1, 3, 40, 60)\n"
_DIGITS = """\
import torch
import {owner}


class Digits(torchvision.datasets.MNIST):
    def _check_exists(self):
        return True

    def _load_data(self):
        return torch.arange(24).reshape(2, 3, 4), torch.tensor([3, 5])


digits = Digits("nowhere")
made = [digits.{member}, digits.{member}[0]]
"""
_WAVE = "import torch\nimport {owner}\n\nwave = torch.rand(1, 800) - 0.5\n"
_IMAGE = """\
import random

import PIL.Image
import {owner}

random.seed(0)
image = PIL.Image.new("RGB", (40, 30), (9, 80, 200))
image.paste((250, 3, 60), (4, 5, 21, 17))
"""
_IMAGES = (
    "import io\nimport torch\nimport {owner}\nimages, file = torch.linspace(0, 2, 180).reshape(2, 3, 6, 5), io.BytesIO()\n"
)
_SPECTRUM = "wave, 0, torch.hann_window(40), 40, 20, 40, None, False"
_PLAIN = {
    "torchaudio.functional.spectrogram return_complex": (
        f"{_WAVE}made = OLD({_SPECTRUM}, return_complex=True)\n",
        f"{_WAVE}made = OLD({_SPECTRUM}, return_complex=False)\n",
    ),
    "torchaudio.transforms.Spectrogram return_complex": (
        f"{_WAVE}made = OLD(n_fft=40, power=None, return_complex=True)(wave)\n",
        f"{_WAVE}made = OLD(n_fft=40, power=2.0, return_complex=False)(wave)\n",
    ),
    "torchaudio.transforms.MelSpectrogram onesided": (
        f"{_WAVE}made = OLD(n_fft=200, n_mels=8, onesided=True)(wave)\n",
        f"{_WAVE}made = OLD(n_fft=200, n_mels=8, onesided=False)(wave)\n",
    ),
    "torchvision.transforms.Scale": (
        f"{_IMAGE}made = list(OLD(20)(image).tobytes())\n",
        f"{_IMAGE}made = OLD((24, 16))(image).size\n",
    ),
    "torchvision.transforms.RandomSizedCrop": (
        "import torch\n" + _IMAGE + "torch.default_generator.manual_seed(3)\nmade = list(OLD(12)(image).tobytes())\n",
        "import torch\n" + _IMAGE + "torch.default_generator.manual_seed(3)\nmade = OLD(12, scale=(0.5, 1.0))(image).size\n",
    ),
    "torchvision.utils.make_grid range": (
        f"{_IMAGES}made = OLD(images, normalize=True, range=(0.5, 1.5)).tolist()\n",
        f"{_IMAGES}made = OLD(images, 1, 0, True, range=(0.0, 1.0), scale_each=True).tolist()\n",
    ),
    "torchvision.utils.save_image range": (
        f"{_IMAGES}OLD(images, file, format='png', normalize=True, range=(0.5, 1.5))\nmade = list(file.getvalue())\n",
        f"{_IMAGES}OLD(images, file, 'png', nrow=1, normalize=True, range=(0.0, 1.0))\nmade = list(file.getvalue())\n",
    ),
}
_ALIASES = {
    "torchaudio.functional.functional.spectrogram return_complex": "torchaudio.functional.spectrogram return_complex",
}
OLD_RELEASE = "0.11.0"
"""The last release of torchvision that has what 0.12 removed: there the old program is run, and the new one on the newest."""
NOT_RUN = {
    "torchvision.datasets.Kinetics400": "reads videos, by a reader that is compiled",
    "torchvision.models.detection.backbone_utils.mobilenet_backbone pretrained": "other arguments tell which weights it meant",
    "torchvision.models.detection.backbone_utils.resnet_fpn_backbone pretrained": "other arguments tell which weights it meant",
    "torchaudio, removed": "the releases that have it import what torch 2.13 has no more",
}
"""Rows that are not run, and why; the last of a whole library."""


def key(row: Deprecation) -> str:
    """The symbol, or the symbol and the parameter."""
    return f"{row.symbol} {row.parameter}".strip()


ROWS = {
    key(row): row for row in deprecations().values() if row.library != "torch" and (row.replacement or ".MNIST." in row.symbol)
}
"""What has a replacement, in the table or with the rule that mends it."""


def reason(name: str) -> str:
    """Why a row is not run; empty for what is."""
    if name in NOT_RUN:
        return NOT_RUN[name]
    row = ROWS[name]
    return NOT_RUN["torchaudio, removed"] if row.library == "torchaudio" and row.removed else ""


def programs(row_name: str) -> list[str]:
    """The programs of a row."""
    row = ROWS[row_name]
    if row.parameter in ("pretrained", "pretrained_backbone"):
        texts = [_MODEL.replace("{arguments}", each) for each in _flags(row)]
    elif ".MNIST." in row_name:
        texts = [_DIGITS.replace("torchvision.datasets.MNIST", "OLD").replace("{member}", row.symbol.rpartition(".")[2])]
    else:
        texts = list(_PLAIN[_ALIASES.get(row_name, row_name)])
    symbol = row.symbol.rpartition(".")[0] if ".MNIST." in row_name else row.symbol
    owner, _, name = symbol.rpartition(".")
    return [text.replace("{owner}", owner).replace("{name}", name).replace("OLD", symbol) for text in texts]


def _flags(row: Deprecation) -> list[str]:
    if row.parameter == "pretrained_backbone":
        return ["weights=None, pretrained_backbone=True", "weights=None, pretrained_backbone=False"]
    given = ["pretrained=False"] if row.replacement.endswith("None") else ["pretrained=True", "pretrained=False"]
    return [*given, *(["False"] if row.replacement.endswith("None") else ["True"])] if row.place == "0" else given
