"""The code that torchlint is evaluated on: what is pinned, where it comes from, and the Python files in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labels import CodeBase

GROUPS = ("developed", "held-out", "read", "silent", "repositories")
"""What a code base is there for; the README beside this file explains them."""


class DownloadError(Exception):
    """A code base that cannot be had, or that is not the pinned one; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """A release on the package index; ``file`` is the archive's name there."""

    name: str
    version: str
    group: str
    file: str
    sha256: str

    @property
    def code_base(self) -> CodeBase:
        return CodeBase(self.name, self.version)


@dataclass(frozen=True, slots=True)
class Repository:
    """One commit of a public repository, ``name`` being ``owner/name``; the rules in ``unjudged`` are not judged there."""

    name: str
    commit: str
    unjudged: tuple[str, ...]

    @property
    def code_base(self) -> CodeBase:
        return CodeBase(self.name, self.commit[:8])


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that is pinned; ``downloader`` are the requirements of the environment that pip downloads in."""

    downloader: tuple[str, ...]
    packages: tuple[Package, ...]
    repositories: tuple[Repository, ...]

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """The manifest in a JSON file."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        unjudged = tuple(content["unjudged_in_repositories"])
        return cls(
            tuple(content["downloader"]),
            tuple(Package(**package) for package in content["packages"]),
            tuple(Repository(entry["name"], entry["commit"], unjudged) for entry in content["repositories"]),
        )


@dataclass(frozen=True, slots=True)
class Checkout:
    """A code base on this disk; ``unjudged`` are the rules that are not judged on it."""

    code_base: CodeBase
    group: str
    folder: Path
    unjudged: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """The Python files, relative to ``folder``; other people's packages below it are left out."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*.py") if path.is_file())
        return sorted(path.as_posix() for path in found if not {"site-packages", "dist-packages"} & set(path.parts))


def standard_library() -> Checkout:
    """The library of the Python that is running: thousands of files, and no torch in them."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Checkout(CodeBase("CPython's library", version), "silent", Path(sysconfig.get_path("stdlib")))


class Store:
    """Keeps what was downloaded below ``folder``: archives as they came, and code bases unpacked."""

    def __init__(self, folder: Path, downloader: Iterable[str], repository_address: str) -> None:
        self._archives = folder / "archives"
        self._unpacked = folder / "unpacked"
        self._environment = folder / "downloader"
        self._downloader = tuple(downloader)
        self._repository_address = repository_address
        self._archives.mkdir(parents=True, exist_ok=True)
        self._unpacked.mkdir(parents=True, exist_ok=True)

    def package(self, package: Package) -> Checkout:
        """The files of a release, downloaded unless they are there; raises `DownloadError`."""
        archive = self._archives / package.file
        target = self._unpacked / f"{package.name}-{package.version}"
        if not archive.exists():
            self._download(package)
        if (found := hashlib.sha256(archive.read_bytes()).hexdigest()) != package.sha256:
            raise DownloadError(f"{archive} has SHA-256 {found}, pinned is {package.sha256}: delete it and run again")
        if not target.exists():
            partial = _emptied(target.with_name(target.name + ".partial"))
            unpack(archive, partial)
            partial.rename(target)
        return Checkout(package.code_base, package.group, target)

    def repository(self, repository: Repository) -> Checkout:
        """The Python files of one commit, fetched unless they are there; raises `DownloadError`."""
        owner, _, name = repository.name.partition("/")
        target = self._unpacked / f"{owner}+{name}-{repository.commit[:8]}"
        if not target.exists():
            address = self._repository_address.format(owner=owner, name=name)
            partial = _emptied(target.with_name(target.name + ".partial"))
            archive = partial / "files.tar"
            try:
                _archive(address, repository.commit, partial / ".git", archive)
            except subprocess.CalledProcessError:
                raise DownloadError(f"cannot get {repository.commit} from {address}") from None
            shutil.rmtree(partial / ".git", ignore_errors=True)
            _unpack_tar(archive, partial)
            archive.unlink()
            partial.rename(target)
        return Checkout(repository.code_base, "repositories", target, repository.unjudged)

    def _download(self, package: Package) -> None:
        """Has pip download the archive.

        pip runs an sdist's setup.py to learn its requirements, which with sdists of this age needs an old setuptools:
        that is what the environment of its own is for.
        """
        print(f"downloading {package.file}", file=sys.stderr)
        try:
            self._pip(
                "download",
                "--no-deps",
                *_choice_of(package.file),
                "--dest",
                str(self._archives),
                f"{package.name}=={package.version}",
            )
        except subprocess.CalledProcessError:
            raise DownloadError(self._how_to_get(package)) from None
        if not (self._archives / package.file).exists():
            raise DownloadError(self._how_to_get(package))

    def _how_to_get(self, package: Package) -> str:
        page = f"https://pypi.org/project/{package.name}/{package.version}/#files"
        return f"pip does not get {package.file}: download it from {page} into {self._archives}"

    def _pip(self, *arguments: str) -> None:
        python = self._environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        if not (self._environment / "ready").exists():
            venv.create(self._environment, with_pip=True, clear=True)
            _run([*pip, "install", *self._downloader])
            (self._environment / "ready").touch()
        _run([*pip, *arguments])


def _archive(address: str, commit: str, own: Path, archive: Path) -> None:
    """Writes the Python files of a commit; it is fetched into the repository ``own`` unless ``address`` is a folder here."""
    folder, revision = address, commit
    if not Path(address).is_dir():
        print(f"fetching {commit[:8]} of {address}", file=sys.stderr)
        _run(["git", "init", "--quiet", "--bare", str(own)])
        _run(["git", "--git-dir", str(own), "fetch", "--quiet", "--depth", "1", address, commit])
        folder, revision = str(own), "FETCH_HEAD"
    _run(["git", "--git-dir", folder, "archive", "--format=tar", f"--output={archive}", revision, ":(glob)**/*.py"])


def two_versions(address: str, repository: str, commit: str, file: str) -> tuple[bytes, bytes]:
    """A file before a commit and after it; ``address`` is as of `Store`. Raises `DownloadError` where they cannot be had."""
    owner, _, name = repository.partition("/")
    folder = address.format(owner=owner, name=name)
    with tempfile.TemporaryDirectory() as own:
        try:
            if not Path(folder).is_dir():
                print(f"fetching {commit[:8]} of {folder}", file=sys.stderr)
                _run(["git", "init", "--quiet", "--bare", own])
                _run(["git", "-C", own, "fetch", "--quiet", "--depth", "2", folder, commit])
                folder = own
            return _shown(folder, f"{commit}^:{file}"), _shown(folder, f"{commit}:{file}")
        except subprocess.CalledProcessError:
            raise DownloadError(f"cannot get {file} of {commit} from {address.format(owner=owner, name=name)}") from None


def _shown(folder: str, what: str) -> bytes:
    return subprocess.run(["git", "-C", folder, "show", what], check=True, stdout=subprocess.PIPE).stdout


def _choice_of(file: str) -> list[str]:
    """The options that have pip choose this very archive, a wheel for another platform than this one as well."""
    if not file.endswith(".whl"):
        return ["--no-binary", ":all:", "--no-build-isolation", "--ignore-requires-python"]
    *_, python, abi, platforms = file.removesuffix(".whl").split("-")
    chosen = ["--only-binary", ":all:", "--ignore-requires-python"]
    if platforms == "any":
        return chosen
    if python.startswith("cp"):
        chosen += ["--python-version", python.removeprefix("cp"), "--abi", abi]
    return [*chosen, "--platform", platforms.split(".")[-1]]


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks an sdist, less the folder that all of it is in, or a wheel, into ``folder``."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    else:
        _unpack_tar(archive, folder)
    if archive.suffix != ".whl":
        (top,) = (entry for entry in folder.iterdir() if entry.is_dir())
        for entry in list(top.iterdir()):
            entry.rename(folder / entry.name)
        top.rmdir()


def _unpack_tar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile() and member.name.endswith(".py"):
                target = (folder / member.name).resolve()
                if not target.is_relative_to(folder.resolve()):
                    raise DownloadError(f"{archive} holds a file outside itself: {member.name}")
                content = opened.extractfile(member)
                assert content is not None
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)
