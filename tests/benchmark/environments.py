"""What the benchmark runs: the programs, each in a virtual environment of its own, and the code that they are run on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

_IMPORTS_TORCH = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)
_INHERITED = ("HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "USERPROFILE")
"""The environment variables that measured programs see; anything else could change what they do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is pinned: ``corpora`` are wheels and their SHA-256, ``environments`` the requirements of each.

    ``before`` is the commit of this repository that torchlint is measured beside.
    """

    corpora: Mapping[str, str]
    environments: Mapping[str, Sequence[str]]
    one_file: str
    five_files: Sequence[str]
    before: str

    @classmethod
    def read(cls) -> Manifest:
        """The manifest beside this file."""
        content: dict[str, Any] = json.loads(Path(__file__).with_name("manifest.json").read_text(encoding="utf-8"))
        return cls(**content)


# --- programs --------------------------------------------------------------------------------------------------------


class Environments:
    """Virtual environments below ``folder``, made when first asked for and kept for the next run."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder = folder
        self._requirements = manifest.environments
        self._before = manifest.before
        self._ready: set[str] = set()

    def variables(self, name: str) -> dict[str, str]:
        """The variables under which a command finds the programs of environment ``name`` first."""
        self._prepare(name)
        inherited = {variable: os.environ[variable] for variable in _INHERITED if variable in os.environ}
        return {**inherited, "PATH": os.pathsep.join((str(self._programs(name)), os.environ.get("PATH", os.defpath)))}

    def python(self, name: str) -> str:
        """The path of the Python of environment ``name``."""
        self._prepare(name)
        return str(self._programs(name) / "python")

    def versions(self, name: str) -> dict[str, str]:
        """The version of each distribution in environment ``name``."""
        listed = subprocess.run(
            [self.python(name), "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"],
            check=True,
            capture_output=True,
        )
        return {found["name"]: found["version"] for found in json.loads(listed.stdout)}

    def _programs(self, name: str) -> Path:
        return self._folder / name / ("Scripts" if sys.platform == "win32" else "bin")

    def _prepare(self, name: str) -> None:
        if name in self._ready:
            return
        requirements = [*self._requirements[name], sys.version]
        marker = self._folder / name / "requirements.json"
        if not marker.exists() or json.loads(marker.read_text(encoding="utf-8")) != requirements:
            venv.create(self._folder / name, with_pip=True, clear=True)
            self._install(name, *self._requirements[name])
            marker.write_text(json.dumps(requirements), encoding="utf-8")
        if name == "torchlint":  # what is measured is the working tree as it is now, installed as users install it
            self._install(name, "--force-reinstall", "--no-deps", str(REPOSITORY))
        elif name == "before":
            self._install(name, "--force-reinstall", "--no-deps", f"git+{REPOSITORY.as_uri()}@{self._before}")
        self._ready.add(name)

    def _install(self, name: str, *arguments: str) -> None:
        print(f"preparing the environment {name}", file=sys.stderr)
        pip = [str(self._programs(name) / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", *arguments], check=True, cwd=self._folder, stdout=sys.stderr)


# --- code ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Corpus:
    """Python files: ``files`` are relative to ``folder`` and sorted."""

    name: str
    folder: Path
    files: tuple[str, ...]

    @classmethod
    def below(cls, name: str, folder: Path) -> Corpus:
        """All Python files below ``folder``."""
        return cls(name, folder, tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))))

    @property
    def lines(self) -> int:
        """How many lines the files have."""
        return sum(self.read(file).count(b"\n") for file in self.files)

    @property
    def torch_files(self) -> tuple[str, ...]:
        """The files that import torch."""
        return tuple(file for file in self.files if _IMPORTS_TORCH.search(self.read(file)))

    @property
    def files_that_mention_torch(self) -> tuple[str, ...]:
        """The files that TorchFix parses."""
        return tuple(file for file in self.files if b"torch" in self.read(file))

    def read(self, file: str) -> bytes:
        """The content of one of the files."""
        return (self.folder / file).read_bytes()

    def size(self, files: Sequence[str] | None = None) -> int:
        """The bytes in ``files``, by default in all."""
        return sum((self.folder / file).stat().st_size for file in (self.files if files is None else files))

    def copy(self, name: str, folder: Path, files: Sequence[str], times: int = 1) -> Corpus:
        """A corpus of copies of ``files``, in as many subfolders as ``times`` says; what ``folder`` held before is lost."""
        shutil.rmtree(folder, ignore_errors=True)
        for number in range(times):
            for file in files:
                target = folder / f"copy{number}" / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.folder / file, target)
        return Corpus.below(name, folder)


def evenly_spaced(files: Sequence[str], count: int) -> list[str]:
    """``count`` of ``files``, the same ones each time; all of them where there are no more."""
    if count >= len(files):
        return list(files)
    return [files[(2 * number + 1) * len(files) // (2 * count)] for number in range(count)]


def unpacked(requirement: str, sha256: str, folder: Path) -> Corpus:
    """The Python files of a wheel from the package index, unpacked below ``folder``; raises `ValueError` if it is another."""
    name = requirement.replace("==", " ")
    target = folder / requirement.replace("==", "-")
    if not target.exists():
        wheel = _downloaded(requirement, folder)
        if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != sha256:
            raise ValueError(f"{wheel.name} has SHA-256 {found}, pinned is {sha256}")
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial)
        partial.rename(target)
    return Corpus.below(name, target)


def _downloaded(requirement: str, folder: Path) -> Path:
    """The wheel that ``requirement`` names; wheels are taken, as no sdist has to run code to be unpacked."""
    print(f"downloading {requirement}", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = folder / "wheels"
    subprocess.run(
        [*pip, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels), requirement],
        check=True,
        stdout=sys.stderr,
    )
    project, _, version = requirement.partition("==")
    return next(wheels.glob(f"{project.replace('-', '_')}-{version}-*.whl"))
