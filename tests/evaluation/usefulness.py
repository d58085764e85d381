"""First contact: runs torchlint over repositories that nobody has looked at, and counts what readers say about the findings.

    python tests/evaluation/usefulness.py run FOLDER --repositories TABLE --checkout PATH --out OUT
    python tests/evaluation/usefulness.py draw OUT --number 900 --sheets 3 --second 300
    python tests/evaluation/usefulness.py score OUT --occurrences TABLE --facts tests/evaluation/first_contact/DATE
    python tests/evaluation/usefulness.py page docs/accuracy.md

``run`` writes OUT/findings.tsv, ``draw`` sheets for readers and empty tables for their answers, ``score`` reads the answers,
prints the shares and writes a sheet, ``settled``, of what two readers disagree on, for a third. All of it lies outside of the
repository, for it quotes code; what ``--facts`` keeps quotes none, and ``page`` shows it. See the README in this folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER / "first_contact")]

from first_findings import Repositories, RunError, read_about, read_findings, run  # noqa: E402
from first_report import report, with_section  # noqa: E402
from known import read_known  # noqa: E402
from labels import LabelError, read_table  # noqa: E402
from readings import Contact, Reading, write_contact  # noqa: E402
from sheets import dealt, drawn, for_second_reader, has_answers, read_answers, write_sheet  # noqa: E402

_DRAWN = "drawn.json"
_SECOND = "second reader"
_SETTLED = "settled"
_CONTEXT = 18


def main(arguments: Sequence[str]) -> int:
    """Runs, draws or scores; the exit code is 2 where something cannot be read or run."""
    options = _parser().parse_args(arguments)
    try:
        print(options.does(options))
    except (LabelError, RunError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _run(options: argparse.Namespace) -> str:
    repositories = Repositories.read(options.folder, options.repositories, options.years)
    said = run(repositories, options.checkout, options.out, options.jobs)
    tables = {"repositories": options.repositories, "years": options.years}
    paths = {name: str(path.resolve()) for name, path in tables.items() if path}
    (options.out / "tables.json").write_text(json.dumps(paths) + "\n", encoding="utf-8")
    return said


def _repositories(out: Path) -> Repositories:
    """The repositories that were run."""
    paths = json.loads((out / "tables.json").read_text(encoding="utf-8"))
    years = Path(paths["years"]) if "years" in paths else None
    return Repositories.read(Path(read_about(out)["folder"]), Path(paths["repositories"]), years)


def _draw(options: argparse.Namespace) -> str:
    out, repositories = options.out, _repositories(options.out)
    taken = drawn(
        (each for each in read_findings(out) if each.strict == "no"), options.number, options.seed, options.cap_per_repo
    )
    sheets = {f"sheet{number}": sheet for number, sheet in enumerate(dealt(taken, options.sheets), 1)}
    second = f"sheet{options.sheets + 1}"
    sheets[second] = for_second_reader(taken, options.second, options.seed)
    answered = [name for name in (*sheets, _SETTLED) if has_answers(out, name)]
    if answered:
        raise RunError(f"{', '.join(answered)} in {out} have answers already: draw from a run in another folder")
    for name, findings in sheets.items():
        write_sheet(out, name, findings, repositories, options.context)
    dealing: dict[str, Any] = {name: [each.id for each in findings] for name, findings in sheets.items()}
    about = {"seed": options.seed, "cap per repository": options.cap_per_repo, _SECOND: second, "sheets": dealing}
    (out / _DRAWN).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return "\n".join(f"{out / name}.txt: {len(findings)} findings" for name, findings in sheets.items())


def _score(options: argparse.Namespace) -> str:
    out, repositories = options.out, _repositories(options.out)
    findings = read_findings(out)
    dealing = json.loads((out / _DRAWN).read_text(encoding="utf-8"))
    answers = {name: read_answers(out / f"{name}.tsv", ids) for name, ids in dealing["sheets"].items()}
    second = answers.pop(dealing[_SECOND])
    first = {id: answer for sheet in answers.values() for id, answer in sheet.items()}
    third = read_answers(out / f"{_SETTLED}.tsv", first) if has_answers(out, _SETTLED) else {}
    ids = [id for name in answers for id in dealing["sheets"][name]]
    known = read_known(options.occurrences, findings) if options.occurrences else []
    scripts = (
        [(row["repo"], row["path"]) for _, row in read_table(options.scripts, ("repo", "path"))] if options.scripts else []
    )
    by_id = {each.id: each for each in findings}
    readings = [Reading.of(by_id[id], repositories, first.get(id), second.get(id), third.get(id)) for id in sorted(ids)]
    open_ones = {each.finding.id: each for each in readings if each.differs}
    said = {id: f"{each.first}, {each.second} ({each.notes})" for id, each in open_ones.items()}
    write_sheet(out, _SETTLED, [each.finding for each in open_ones.values()], repositories, _CONTEXT, said)
    about = {"torchlint": read_about(out)["torchlint"], "seed": dealing["seed"], "cap": dealing["cap per repository"]}
    contact = Contact(out.name, about, repositories.files(), findings, readings, known, scripts)
    if options.facts:
        write_contact(contact, repositories, options.facts)
    text = report(contact)
    (out / "report.md").write_text(text, encoding="utf-8")
    return text


def _page(options: argparse.Namespace) -> str:
    page: Path = options.page
    page.write_text(with_section(page.read_text(encoding="utf-8")), encoding="utf-8")
    return f"{page}: first contact is current"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run", help="run torchlint over the repositories")
    one.set_defaults(does=_run)
    one.add_argument("folder", type=Path, help="the repositories: owner/name lies in owner+name")
    one.add_argument("--repositories", type=Path, required=True, metavar="TABLE", help="columns repo, commit, newest (a year)")
    one.add_argument("--years", type=Path, metavar="TABLE", help="columns repo, path, year: when each file was last changed")
    one.add_argument("--checkout", type=Path, required=True, help="the torchlint to run")
    one.add_argument("--out", type=Path, required=True, help="a folder outside of the repository")
    one.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    two = commands.add_parser("draw", help="draw findings at random, and write sheets for readers")
    two.set_defaults(does=_draw)
    two.add_argument("out", type=Path)
    two.add_argument("--number", type=int, default=1500, help="how many to draw (default: %(default)s)")
    two.add_argument("--sheets", type=int, default=3, help="how many readers share them (default: %(default)s)")
    two.add_argument("--second", type=int, default=300, help="how many a second reader has as well (default: %(default)s)")
    two.add_argument("--seed", type=int, default=13, help="for the drawing (default: %(default)s)")
    two.add_argument(
        "--cap-per-repo", type=int, metavar="N", help="draw from at most N findings of each repository (default: all)"
    )
    two.add_argument("--context", type=int, default=_CONTEXT, help="lines shown on each side (default: %(default)s)")
    three = commands.add_parser("score", help="count the answers")
    three.set_defaults(does=_score)
    three.add_argument("out", type=Path)
    three.add_argument("--occurrences", type=Path, metavar="TABLE", help="what readers found beforehand")
    three.add_argument(
        "--scripts", type=Path, metavar="TABLE", help="columns repo, path: the scripts that were read beforehand"
    )
    three.add_argument("--facts", type=Path, metavar="FOLDER", help="keep the facts, without code, in this folder")
    four = commands.add_parser("page", help="write what is kept about first contacts into docs/accuracy.md")
    four.set_defaults(does=_page)
    four.add_argument("page", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
