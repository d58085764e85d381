"""How much is found of what the file itself does not tell of, with the project's other files at hand and without them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]
sys.path[:0] = [str(FOLDER), str(FOLDER / "first_contact"), str(REPOSITORY)]

from judgement import Finding, matched, share  # noqa: E402
from labels import CodeBase, Occurrence, Teller, read_occurrences, read_tellers  # noqa: E402
from tables import aligned, percentage  # noqa: E402

from torchlint.engine.linter import lint  # noqa: E402
from torchlint.options import Options  # noqa: E402
from torchlint.project.files import Files  # noqa: E402
from torchlint.rules.selection import select_rules  # noqa: E402
from torchlint.text.source import Source, SourceError  # noqa: E402

_KINDS = ("file", "project", "no", "none")


def main(arguments: Sequence[str]) -> int:
    """Lints the files that hold such occurrences, twice, and counts; the exit code is 2 where none of them is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="where the code bases lie, as NAME-VERSION or OWNER+NAME")
    parser.add_argument("--missed", action="store_true", help="name what is missed")
    options = parser.parse_args(arguments)
    tellers = read_tellers(FOLDER / "other_files.tsv")
    together, alone = [], []
    at_hand: list[Teller] = []
    for code_base in dict.fromkeys(each.occurrence.code_base for each in tellers):
        root = _root(code_base, options.folders)
        here = [each for each in tellers if root and each.occurrence.code_base == code_base]
        at_hand += [each for each in here if root and (root / each.occurrence.file).is_file()]
        if root:
            files = sorted({each.occurrence.file for each in here if (root / each.occurrence.file).is_file()})
            reader = Files()
            for file in files:
                together += _findings(code_base, root, file, reader)
                alone += _findings(code_base, root, file, None)
    known = read_occurrences(FOLDER / "occurrences.tsv")
    found = found_of(together, at_hand, known)
    print("\n".join(aligned(rows(at_hand, found, found_of(alone, at_hand, known)))))
    if options.missed:
        print(
            *(f"{each.tells}: {each.occurrence} {each.where}" for each, is_found in zip(at_hand, found) if not is_found),
            sep="\n",
        )
    return 0 if at_hand else 2


def found_of(findings: Iterable[Finding], tellers: Sequence[Teller], known: Iterable[Occurrence]) -> list[bool]:
    """Whether each is found; of findings on the same lines the other occurrences there that the file tells of come first."""
    judged = [each.occurrence for each in tellers]
    left = list(judged)
    others = []
    for each in known:
        if each in left:
            left.remove(each)
        else:
            others.append(each)
    return matched(findings, [*others, *judged])[len(others) :]


def rows(tellers: Sequence[Teller], together: Sequence[bool], alone: Sequence[bool]) -> list[list[str]]:
    """The figures of each kind, and of all."""
    table = [["told by", "occurrences", "found", "recall", "found alone", "recall alone"]]
    for kind in (*_KINDS, "all"):
        chosen = [index for index, each in enumerate(tellers) if kind in (each.tells, "all")]
        figures = [str(len(chosen))]
        for found in (together, alone):
            number = sum(found[index] for index in chosen)
            figures += [str(number), percentage(share(number, len(chosen)))]
        table.append([kind, *figures])
    return table


def _root(code_base: CodeBase, folders: Iterable[Path]) -> Path | None:
    name = code_base.package.replace("/", "+")
    roots = [folder / each for folder in folders for each in (f"{name}-{code_base.version}", name)]
    return next((root for root in roots if root.is_dir()), None)


def _findings(code_base: CodeBase, root: Path, file: str, files: Files | None) -> list[Finding]:
    """What all rules report in one file, with the project at hand where ``files`` is given."""
    path = root / file
    reading = files.reading(str(path), str(root)) if files else None
    try:
        source = Source.decode(path.read_bytes(), str(path))
        found = lint(source, select_rules(["ALL"]), Options(), reading=reading, fixes=False, suppress=False)
    except SourceError:
        return []
    return [Finding(code_base, file, each.location.row, each.location.column, each.code) for each in found]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
