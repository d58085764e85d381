"""Runs programs against torchvision or torchaudio as a wheel holds it, without its compiled part.

``python without_compiled.py WHEEL < programs.json`` takes programs and writes what came of each: what it made, as
text, the error that it raised, and what it warned of. Their wheels are built for CUDA and do not load beside a torch for the
CPU; what is deprecated is Python. Only that is unpacked. The operators that it asks for are defined beforehand, without a
kernel: what calls one raises. No weights are read: the parameters of a model have no values (they are on the meta device), and
what it would have loaded is noted.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import types
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch

OPERATORS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    **{
        template.format(name): "(Tensor input) -> Tensor"
        for name in ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
        for template in ("{}", "_{}_backward")
    },
}
"""What torchvision registers something for as it is imported; none is called, and the arguments do not matter."""


def importable(wheel: Path, folder: Path) -> str:
    """Makes what is in a wheel importable; gives its version."""
    library, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [each for each in archive.namelist() if each.endswith(".py")])
    sys.path.insert(0, str(folder))
    if library == "torchvision" and tuple(map(int, version.split(".")[:2])) < (0, 13):
        package = types.ModuleType(library)  # what it imports is not there any more; its parts do without
        package.__path__ = [str(folder / library)]
        package.__version__ = version  # type: ignore[attr-defined]
        sys.modules[library] = package
    elif library == "torchvision":
        operators: Any = torch.library.Library(library, "DEF")  # type: ignore[no-untyped-call]
        for name, signature in OPERATORS.items():
            operators.define(name + signature)
        _without_weights()
        _kept.append(operators)
    return version


_kept: list[object] = []
"""What is defined goes with the one that defined it."""
_loaded: list[str] = []
"""The weights that models asked for, by the name of the enumeration's member."""


def _without_weights() -> None:
    """Has models note their weights and load none."""
    import torchvision

    def noted(weights: Any, *_: object, **__: object) -> dict[str, object]:
        _loaded.append(str(weights))
        return {}

    torchvision.models.WeightsEnum.get_state_dict = noted
    torch.nn.Module.load_state_dict = lambda *_, **__: None  # type: ignore[method-assign]


_empty = torch.empty
_RUN_AS_MADE = ("ssdlite320",)
"""Models whose making looks what a part of them gives: their parameters need values."""


def _without_values(*size: Any, device: Any = None, **words: Any) -> torch.Tensor:
    return _empty(*size, device="meta" if device is None else device, **words)


def shown(made: object) -> str:
    """What was made, as text that is the same for the same: of a model its classes, settings and weights."""
    match made:
        case torch.nn.Module():
            parts = [str(made), *(f"{name} {tuple(each.shape)}" for name, each in made.state_dict().items())]
            return f"{type(made).__name__} {hashlib.sha256(repr(parts).encode()).hexdigest()} of {_loaded}"
        case torch.Tensor():
            values = made.detach().contiguous()
            plain = torch.view_as_real(values) if values.is_complex() else values
            digest = hashlib.sha256(plain.numpy().tobytes()).hexdigest()
            return f"{type(made).__name__} {made.dtype} {tuple(made.shape)} {digest}"
        case list() | tuple():
            return f"{type(made).__name__} {[shown(each) for each in made]}"
    return f"{type(made).__name__} {made!r}"


def run(text: str) -> dict[str, object]:
    """What came of a program: ``made``, ``raised`` and ``warned``."""
    names: dict[str, object] = {"__name__": "__main__"}
    made = raised = ""
    is_large = ".models." in text and not any(each in text for each in _RUN_AS_MADE)
    torch.empty = _without_values if is_large else _empty
    _loaded.clear()
    torch.default_generator.manual_seed(0)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            exec(compile(text, "<program>", "exec"), names)
            made = shown(names["made"])
        except Exception as error:
            raised = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return {"made": made, "raised": raised, "warned": sorted({str(each.message) for each in found})}


def main() -> int:
    """Reads programs and writes what came of them, after the version that they ran on."""
    programs = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCH_HOME"] = folder
        version = importable(Path(sys.argv[1]), Path(folder))
        json.dump([{"version": version}, *map(run, programs)], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
