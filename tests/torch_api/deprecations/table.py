"""Writes torchlint/semantics/apis/deprecations.tsv from the wheels of torch, torchvision and torchaudio in a folder.

``python tests/torch_api/deprecations/table.py WHEELS`` reads every release there is, without importing any; ``--cache`` keeps
what was read. Of torch, the installed release is the newest that counts: the table is about that one and those before it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conditions import DEPENDS
from history import SHOWN, Release, kept
from libraries import is_public
from replacements import ABOUT_A_PART, parameter_replacement, replacement
from said import Said
from since import first_with

TARGET = Path(__file__).parents[3] / "torchlint" / "semantics" / "apis" / "deprecations.tsv"
COLUMNS = ("symbol", "parameter", "when", "place", "library", "since", "removed", "replacement", "found", "message")
NEWEST = {"torch": (2, 13), "torchvision": (0, 28), "torchaudio": (2, 11)}
"""The releases that the table is about; they belong together."""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A line of the table; versions are empty where something is not deprecated first, or not removed.

    ``when`` is empty for what is deprecated however it is used. Else the use that is: that the parameter is ``given``, is
    ``missing``, or is given the value behind ``=``, or it ``depends``. ``place`` is that of the parameter among those given by
    position; empty where it has none.
    """

    symbol: str
    parameter: str
    when: str
    place: str
    library: str
    since: str
    removed: str
    replacement: str
    found: str
    message: str


TYPED = (
    Row(
        "torch.lu",
        "",
        "",
        "",
        "torch",
        "1.11.0",
        "",
        "",
        "docstring",
        "Use `torch.linalg.lu_factor` or `torch.linalg.lu_factor_ex`",
    ),
    Row(
        *("torch.testing.assert_allclose", "", "", "", "torch", "1.12.0", "", "", "decorator"),
        "Use `torch.testing.assert_close` instead.",
    ),
    Row(
        *("torch.utils._pytree._register_pytree_node", "", "", "", "torch", "2.2.0", "", "", "decorator"),
        "Use `register_pytree_node`",
    ),
    *(
        Row(
            *(
                f"torchvision.utils.{each}",
                "range",
                "given",
                "",
                "torchvision",
                "0.9.0",
                "0.16.0",
                "value_range=...",
                "warning",
            ),
            "Please use 'value_range' instead.",
        )
        for each in ("make_grid", "save_image")
    ),
    *(
        Row(
            *(f"torch.{each}.cuda", "device_id", "given", "", "torch", "", "0.3.0", "device=...", "release notes"),
            "Use `device`",
        )
        for each in ("Tensor", "nn.Module")
    ),
    Row(
        *("torch.utils.data.Sampler", "data_source", "given", "0", "torch", "2.1.0", "2.10.0", "-", "warning"),
        "`data_source` argument is not used and will be removed in 2.2.0.",
    ),
)
"""What the files say in ways, or in places, that are not read: a name that a helper makes, `torch.testing`, private names, what
is taken as one of `**kwargs`; and what releases before 1.0 have renamed: `device_id` in
https://github.com/pytorch/pytorch/pull/3133. Or what does not say that it deprecates: ``data_source``, which the constructor of
``Sampler`` asked for up to torch 2.0, warned of from 2.1 on, and went with as a whole in 2.10.
"""


def rows(releases: Sequence[Release]) -> Iterator[Row]:
    """The table of one library, of its releases in order."""
    newest = releases[-1]
    usual: dict[tuple[str, str], str] = {}
    for name, parameter in sorted({key for each in releases for key in each.said}, key=lambda key: (key[0].count("."), key)):
        said = [(each, each.said[name, parameter]) for each in releases if (name, parameter) in each.said]
        last, texts = said[-1]
        home = texts[0].module, texts[0].name
        main = usual.setdefault(home, name)
        is_method = "." in texts[0].name
        if (
            not is_public(name)
            or (main in ABOUT_A_PART and not parameter)
            or (is_method and name != main and name != ".".join(home))
        ):
            continue
        here = name in newest.names or (name, parameter) in newest.said
        if here and last is not newest and not _lacks(newest, name, parameter):
            continue  # it is deprecated no more
        if parameter and not here:
            continue  # it went with what took it
        if here or _counts(name, newest.library):
            yield _row(releases, name, parameter, said, main)


def _row(releases: Sequence[Release], name: str, parameter: str, said: Sequence[tuple[Release, list[Said]]], main: str) -> Row:
    newest = releases[-1]
    last_said, last_texts = said[-1]
    texts = sorted(last_texts, key=lambda each: each.how == "docstring")
    removed = next((each.version for each, found in said if any(row.is_removed for row in found)), "")
    message = _ADVICE.get(name) or advice(texts[0].message)
    found = ",".join(sorted({each.how for _, every in said for each in every}))
    since = said[0][0].version
    if parameter:
        is_taken = last_said is newest and any(each.how == "decorator" for each in texts)  # by what it is decorated with
        removed = "" if is_taken else _lost(releases, name, parameter)
        when = PART.get((main, parameter), texts[0].when)
        new = next(filter(None, (each.replacement for each in texts)), "") or parameter_replacement(
            main, parameter, texts[0].message
        )
        place = _place(releases, name, parameter)
        return Row(name, parameter, when, place, newest.library, since, removed, new, found, message)
    new = next(filter(None, (replacement(main, each.message, newest.names) for each in texts)), "")
    owner = name.rpartition(".")[0]
    if "." in texts[0].name and new.rpartition(".")[0] == main.rpartition(".")[0]:
        new = f"{owner}.{new.rpartition('.')[2]}"
    return Row(name, "", "", "", newest.library, since, removed or _removed(releases, name), new, found, message)


PART = {
    ("torch.stft", "return_complex"): DEPENDS,
    ("torch.nn.parallel.DistributedDataParallel", "broadcast_buffers"): DEPENDS,
    ("torch.nn.parallel.DistributedDataParallel", "forward_sync_buffers"): DEPENDS,
}
"""Parameters of which only one value is meant, or only both together."""


_VIDEO = "We recommend that you migrate to TorchCodec."
_ADVICE = {f"torchvision.io.{each}": _VIDEO for each in ("VideoReader", "read_video", "read_video_timestamps", "write_video")}
"""What is said below a docstring's description, which is all that is read of it."""
_ADVICE |= dict.fromkeys(
    ("torch.gesv", "torch.Tensor.gesv"), "Please use torch.linalg.solve instead, with the arguments the other way round."
)
"""What was to be used then has been removed as well."""


def _lacks(release: Release, name: str, parameter: str) -> bool:
    """Whether a function is there, and takes a parameter no more."""
    taken = release.parameters.get(name)
    return bool(parameter) and taken is not None and parameter not in taken and "**" not in taken


def _lost(releases: Sequence[Release], name: str, parameter: str) -> str:
    """The first release from which on a function lacks a parameter."""
    last = max((place for place, each in enumerate(releases) if not _lacks(each, name, parameter)), default=len(releases))
    return releases[last + 1].version if last + 1 < len(releases) else ""


def _place(releases: Sequence[Release], name: str, parameter: str) -> str:
    """The place of a parameter in the last signature that has it; of a tensor's method, that of the function, less one."""
    owner, _, last = name.rpartition(".")
    if owner == "torch.Tensor" and (place := _place(releases, f"torch.{last}", parameter)):
        return str(int(place) - 1)
    for each in reversed(releases):
        taken = each.parameters.get(name, [])
        if parameter in taken:
            by_place = taken[: taken.index("*")] if "*" in taken else taken
            return str(by_place.index(parameter)) if parameter in by_place else ""
    return ""


def with_observed(found: list[Row], releases: Sequence[Release], folder: Path, cache: Path) -> list[Row]:
    """The rows of torch, with what running the installed one showed."""
    from observed import observe

    table = {(row.symbol, row.parameter): row for row in found}
    observations = observe(SHOWN["torch"])
    if late := sorted(name for each in observations.values() for name in each.late):
        print(f"too late to say anything of them, on a quieter machine they may be: {', '.join(late)}", file=sys.stderr)
    seen = [each for observation in observations.values() for each in observation.seen]
    dated = first_with(seen, releases, folder, cache)
    for each in seen:
        how = "quietly observed" if each.is_quiet else "observed"
        row = table.get((each.name, each.parameter))
        since = dated[each.name, each.parameter]
        if row is None:
            new = parameter_replacement(each.name, each.parameter, each.message) if each.parameter else ""
            new = new or ("" if each.when else replacement(each.name, each.message, releases[-1].names))
            place = _place(releases, each.name, each.parameter)
            row = Row(each.name, each.parameter, each.when, place, "torch", since, "", new, how, advice(each.message))
        else:
            found_by = ",".join(sorted({*row.found.split(","), how}))
            row = replace(row, found=found_by, since=min(row.since, since, key=_order) if each.parameter else row.since)
            if row.when == DEPENDS:
                row = replace(row, when=each.when)
        table[row.symbol, row.parameter] = row
    return list(table.values())


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def advice(message: str) -> str:
    """The sentence of a message that says what to do, or else its first, on one line and without markup."""
    text = re.sub(r":\w+:`~?([^`<]+?)(?: <[^`>]*>)?`", r"`\1`", " ".join(message.replace(".. warning::", "").split()))
    text = re.sub(r"\.\. deprecated:: [\d.]+|\[?DEPRECATED\]?:? ?(?=[A-Z])", "", text).replace("``", "`").strip()
    sentences = [each.strip() for each in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", text)]
    chosen = next(
        (each for each in sentences if re.search(r"\b(?:use|favor|migrate|switch|renamed|see|replaced)\b", each, re.I)),
        sentences[0],
    )
    return chosen if len(chosen) <= 160 else chosen[:160].rsplit(" ", 1)[0] + " …"


def _counts(name: str, library: str) -> bool:
    return name.rpartition(".")[0] in SHOWN[library] and is_public(name)


def _removed(releases: Sequence[Release], name: str) -> str:
    """The first release from which on a name is missing."""
    last = max((place for place, each in enumerate(releases) if name in each.names), default=len(releases))
    return releases[last + 1].version if last + 1 < len(releases) else ""


def table(folder: Path, cache: Path) -> list[Row]:
    """All rows, of all libraries whose wheels are in ``folder``."""
    cache.mkdir(parents=True, exist_ok=True)
    found: list[Row] = [*TYPED]
    for library, newest in NEWEST.items():
        releases = sorted((kept(path, cache) for path in sorted(folder.glob(f"{library}-*.whl"))), key=lambda each: each.order)
        releases = [each for each in releases if each.order <= newest]
        if releases:
            found += rows(releases)
        if releases and library == "torch":
            found = with_observed(found, releases, folder, cache)
    going = {row.symbol for row in found if not row.when}
    return sorted(replace(row, replacement="") if row.replacement in going else row for row in found)


def written(lines: Iterable[Row]) -> str:
    """The text of the data file."""
    texts = ["\t".join(getattr(row, column).replace("\t", " ") for column in COLUMNS) for row in lines]
    return "\n".join(["\t".join(COLUMNS), *texts]) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Writes the table and says what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(".cache"))
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args(arguments)
    found = table(options.wheels, options.cache)
    options.out.write_text(written(found), encoding="utf-8")
    for library in NEWEST:
        own = [row for row in found if row.library == library]
        whole = [row for row in own if not row.when]
        print(
            f"{library}: {len(own)} rows, {len(whole)} of whole symbols, {sum(bool(row.removed) for row in whole)} removed,"
            f" {sum(bool(row.replacement) for row in whole)} with a replacement"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
