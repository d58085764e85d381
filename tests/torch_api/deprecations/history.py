"""What the releases of a library say one after the other: since when something is deprecated, and from when on it is gone."""

from __future__ import annotations

import ast
import json
import zipfile
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from libraries import Library, is_public
from said import Said, Sayings

SHOWN = {
    "torch": (
        *("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn"),
        *("torch.nn.parallel", "torch.nn.Module", "torch.optim", "torch.optim.lr_scheduler", "torch.autograd", "torch.cuda"),
        *(
            "torch.autograd.profiler",
            "torch.autograd.functional",
            "torch.cuda.amp",
            "torch.cpu.amp",
            "torch.amp",
            "torch.linalg",
        ),
        *("torch.cuda.nvtx", "torch.cuda.comm", "torch.utils.data", "torch.utils.checkpoint", "torch.utils.data.distributed"),
        *("torch.distributed", "torch.distributed.algorithms", "torch.distributed.optim", "torch.distributions", "torch.jit"),
        *(
            "torch.onnx",
            "torch.sparse",
            "torch.fft",
            "torch.special",
            "torch.hub",
            "torch.multiprocessing",
            "torch.quantization",
        ),
        *("torch.ao.quantization", "torch.backends.cuda", "torch.backends.cudnn", "torch.random", "torch.func", "functorch"),
        *("torch.library", "torch.profiler", "torch.overrides", "torch.package", "torch.fx", "torch.nn.quantized"),
    ),
    "torchvision": (
        *("torchvision", "torchvision.models", "torchvision.transforms", "torchvision.transforms.functional", "torchvision.io"),
        *("torchvision.transforms.v2", "torchvision.transforms.v2.functional", "torchvision.datasets", "torchvision.ops"),
        *("torchvision.models.detection", "torchvision.models.segmentation", "torchvision.models.video", "torchvision.utils"),
        *("torchvision.models.quantization", "torchvision.models.optical_flow", "torchvision.datapoints"),
    ),
    "torchaudio": (
        *("torchaudio", "torchaudio.transforms", "torchaudio.functional", "torchaudio.datasets", "torchaudio.models"),
        *("torchaudio.sox_effects", "torchaudio.compliance.kaldi", "torchaudio.utils", "torchaudio.io", "torchaudio.pipelines"),
        *("torchaudio.backend", "torchaudio.backend.sox_io_backend", "torchaudio.kaldi_io", "torchaudio.prototype"),
    ),
}
"""Where people take names from: what is gone from these counts as removed, and what is deprecated counts by these names."""


@dataclass(frozen=True, slots=True)
class Release:
    """``names`` are the public names of functions, classes and methods, ``said`` what is said of them, or of a parameter."""

    library: str
    version: str
    names: frozenset[str]
    said: dict[tuple[str, str], list[Said]]
    parameters: dict[str, list[str]]
    """What functions and constructors take: in order, what is given by name only behind a star; two stars: anything."""

    @property
    def order(self) -> tuple[int, ...]:
        """What releases are sorted by."""
        return tuple(int(part) for part in self.version.split(".")[:2])


def release(library: Library) -> Release:
    """What one library's files say."""
    spellings = library.spellings
    names = set(library.public)
    parameters: dict[str, list[str]] = {}
    for (module, name), spelled in spellings.items():
        methods = library.methods(module, name)
        function = methods.get("__init__", library.modules[module].definitions.get(name))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters |= dict.fromkeys(spelled, _parameters(function, methods))
        for method, definition in methods.items():
            names |= {f"{each}.{method}" for each in spelled if is_public(method)}
            if is_public(method) and isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                parameters |= dict.fromkeys((f"{each}.{method}" for each in spelled), _parameters(definition, methods))
    said: dict[tuple[str, str], list[Said]] = {}
    for each in Sayings(library).all:
        owner, dot, method = each.name.partition(".")
        if not is_public(method.replace("__call__", "call")):
            continue
        if not owner:
            spelled = [each.module] if is_public(each.module) else []
        else:
            spelled = spellings.get((each.module, owner), [])
        if not spelled and f"{each.module}.{owner}" in _documented(each):
            spelled = [f"{each.module}.{owner}"]
        for name in spelled:
            if name.rpartition(".")[0] != each.module and name.rpartition(".")[0] not in SHOWN[library.name]:
                continue  # a module that happens to import it
            said.setdefault((f"{name}{dot}{method}", each.parameter), []).append(each)
    return Release(library.name, library.version, frozenset(names), said, parameters)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, methods: Collection[str]) -> list[str]:
    arguments = function.args
    places = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)
    if function.name in methods and places and not static:
        places = places[1:]
    by_name = [each.arg for each in arguments.kwonlyargs]
    return [*places, *(["*", *by_name] if by_name or arguments.vararg else []), *(["**"] if arguments.kwarg else [])]


def _documented(each: Said) -> Iterable[str]:
    """The name of a function of C++ that has got a docstring: one that no file defines."""
    return (f"{each.module}.{each.name}",) if each.how == "docstring" and is_public(each.module) else ()


def speaks(path: Path, needles: Iterable[str], cache: Path) -> frozenset[str]:
    """Which of some texts the files of a wheel hold, those of C++ among them."""
    stored = cache / f"{path.stem}.texts.json"
    known: dict[str, bool] = json.loads(stored.read_text()) if stored.exists() else {}
    if missing := {each: each.encode() for each in needles if each not in known}:
        found: set[str] = set()
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member.endswith((".py", ".so", ".dylib")):
                    data = archive.read(member)
                    found |= {text for text, coded in missing.items() if text not in found and coded in data}
        known |= {text: text in found for text in missing}
        stored.write_text(json.dumps(known))
    return frozenset(each for each in needles if known[each])


def kept(path: Path, cache: Path) -> Release:
    """The release in a wheel, or as it was read from it before."""
    stored = cache / f"{path.stem}.read.json"
    if not stored.exists():
        found = release(Library.of_wheel(path))
        said = [[*key, [asdict(each) for each in rows]] for key, rows in found.said.items()]
        stored.write_text(json.dumps([found.library, found.version, sorted(found.names), said, found.parameters]))
    library, version, names, said, parameters = json.loads(stored.read_text())
    table = {(name, parameter): [Said(**each) for each in rows] for name, parameter, rows in said}
    return Release(library, version, frozenset(names), table, parameters)
