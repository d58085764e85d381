"""The programs that are compared, as commands of their environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from environments import Corpus, Environments, Manifest, evenly_spaced, unpacked
from measurement import Command, Series, alternated

PROCESSES = 2

_QUICK_FILES = 24


@dataclass(slots=True)
class Bench:
    """What the cases run on and how often; ``sample`` is how many files TorchFix is run on in place of a whole corpus."""

    folder: Path
    rounds: int
    quick: bool
    sample: int | None
    manifest: Manifest = field(default_factory=Manifest.read)
    environments: Environments = field(init=False)
    _corpora: dict[str, Corpus] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environments = Environments(self.folder / "environments", self.manifest)

    def whole(self, name: str) -> Corpus:
        """The pinned corpus whose name starts so."""
        if name not in self._corpora:
            requirement = next(requirement for requirement in self.manifest.corpora if requirement.startswith(f"{name}=="))
            self._corpora[name] = unpacked(requirement, self.manifest.corpora[requirement], self.folder / "corpora")
        return self._corpora[name]

    def corpus(self, name: str) -> Corpus:
        """The pinned corpus, or a small part of it for a quick run."""
        whole = self.whole(name)
        if not self.quick:
            return whole
        return self.copy(whole, f"{whole.name}, {_QUICK_FILES} files", evenly_spaced(whole.torch_files, _QUICK_FILES))

    def copy(self, corpus: Corpus, name: str, files: Sequence[str], times: int = 1) -> Corpus:
        """Copies of some of a corpus's files."""
        return corpus.copy(name, self.folder / "copies" / name.replace(" ", "-").replace(",", ""), files, times)

    def command(
        self,
        label: str,
        environment: str,
        arguments: Sequence[str],
        folder: Path,
        *,
        once: bool = False,
        variables: Mapping[str, str] | None = None,
        shown: str = "",
    ) -> Command:
        """A command of one of the environments, run in ``folder``."""
        given = {} if variables is None else dict(variables)
        typed = " ".join([*(f"{name}={value}" for name, value in given.items()), *arguments])
        return Command(
            label, tuple(arguments), folder, {**self.environments.variables(environment), **given}, shown or typed, once
        )

    def series(self, commands: Sequence[Command]) -> list[Series]:
        """The measured commands."""
        return alternated(commands, self.rounds)

    @property
    def label_of_before(self) -> str:
        """What tables call the commit that torchlint is measured beside."""
        return f"torchlint {self.manifest.before}"

    # --- the programs ------------------------------------------------------------------------------------------------

    def torchlint(self, corpus: Corpus, *paths: str, label: str = "torchlint", options: Sequence[str] = ()) -> Command:
        """torchlint without its cache."""
        arguments = ["torchlint", "--no-cache", *options, "-j", str(PROCESSES), *(paths or ".")]
        return self.command(label, "torchlint", arguments, corpus.folder)

    def before(self, corpus: Corpus) -> Command:
        """The same of the commit that torchlint is measured beside."""
        arguments = ["torchlint", "--no-cache", "-j", str(PROCESSES), "."]
        return self.command(self.label_of_before, "before", arguments, corpus.folder)

    def ruff(self, corpus: Corpus, *paths: str) -> Command:
        """ruff with its default rules, without its cache."""
        options = ["--isolated", "--no-respect-gitignore", "--no-cache"]
        limit = {"RAYON_NUM_THREADS": str(PROCESSES)}
        return self.command("ruff", "ruff", ["ruff", "check", *options, *(paths or ".")], corpus.folder, variables=limit)

    def bugbear(self, corpus: Corpus, *paths: str) -> Command:
        """flake8 with flake8-bugbear, all that the two report by default."""
        arguments = ["flake8", "--isolated", "-j", str(PROCESSES), *(paths or ".")]
        return self.command("flake8 with flake8-bugbear", "flake8-bugbear", arguments, corpus.folder, once=len(paths) == 0)

    def torchfix(self, corpus: Corpus, *paths: str, once: bool = True) -> Command:
        """TorchFix's own command."""
        arguments = ["torchfix", "-j", str(PROCESSES), *(paths or ".")]
        shown = "torchfix -j 2 FILES" if len(paths) > 5 else ""
        return self.command("TorchFix", "torchfix", arguments, corpus.folder, once=once, shown=shown)

    def flake8(self, label: str, environment: str, select: str, corpus: Corpus, *paths: str, once: bool = False) -> Command:
        """flake8, with whatever plugins the environment has."""
        arguments = ["flake8", "--isolated", "-j", str(PROCESSES), "--select", select, *(paths or ".")]
        shown = " ".join([*arguments[:6], "FILES"]) if paths else ""
        return self.command(label, environment, arguments, corpus.folder, once=once, shown=shown)

    def libcst(self, corpus: Corpus, files: Sequence[str], processes: int, *, once: bool = False) -> Command:
        """libcst's parser over ``files``."""
        listing = self.folder / f"files-{corpus.folder.name}-{len(files)}.txt"
        listing.write_text("\n".join(files) + "\n", encoding="utf-8")
        script = Path(__file__).with_name("parse_with_libcst.py")
        arguments = [self.environments.python("libcst"), str(script), str(listing), str(processes)]
        shown = f"python parse_with_libcst.py FILES {processes}"
        return self.command("libcst.parse_module", "libcst", arguments, corpus.folder, once=once, shown=shown)
