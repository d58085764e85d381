"""Writes docs/deprecations.md: what the table holds, counted and listed.

``python tests/torch_api/deprecations/table_page.py`` needs neither torch nor wheels; with ``--check`` nothing is written, and
the exit code is 1 where the page differs from what would be.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from torchlint.semantics.apis.deprecations import Deprecation, deprecations

TARGET = Path(__file__).parents[3] / "docs" / "deprecations.md"
LIBRARIES = ("torch", "torchvision", "torchaudio")
_HEAD = """\
# What torch, torchvision and torchaudio deprecate

The table behind [TPL108](rules/TPL108.md) and [TPL109](rules/TPL109.md), as it is in
`torchlint/semantics/apis/deprecations.tsv`: {count} rows. It is generated from the wheels of torch 1.0 to 2.13, torchvision 0.2
to 0.28 and torchaudio 0.7 to 2.11, and from running torch 2.13:

```console
$ python tests/torch_api/deprecations/table.py WHEELS
```

What went without having been deprecated is in `unannounced.tsv` beside it, written by hand: names that public code imports,
with the first of the releases whose code lacks them. A symbol that can be imported under several names has a row for each.
This page is written by
`python tests/torch_api/deprecations/table_page.py`.

TPL106, TPL107 and TPL111 read the same table: the names and flags that torch 1.0 had given up by then, the weights that
`pretrained=` meant, and the checkpoints that do not say which they are.

## What is proven

Of the rows of the installed torch that have a replacement, each has a program that is run as it is and as it is fixed
(`tests/torch_api/test_proven_replacements.py`), but for those named there with their reasons. torchvision and torchaudio have
no wheel that loads beside a torch for the CPU: their Python is unpacked and run without the compiled part, which what is
deprecated does not need (`tests/torch_api/unpacked`; torchvision 0.28 and 0.11, torchaudio 2.11, on torch 2.13). No weights are
downloaded: of `pretrained=True` the class of the model, its parameters' shapes and the weights that it asks for are compared.
So run, 294 rows agree and their warnings are gone, each recorded in `proven.tsv` there; 17 are not run, and say why. One
replacement turned out to be none: `v2.functional.get_size` gives height and width, and `get_image_size` gave width and height.

## On real code

The five rules, strict findings among them, over 242 repositories (the 23 known ones and the 219 of the four rounds of
[first contact](accuracy.md#first-contact)), at commit 8a6449d: 1009 findings in 440 files, 527 of TPL108, 386 of TPL106, 65 of
TPL107, 26 of TPL109 and 5 of TPL111. Every one was read with its line on 2026-11-23, by one reader: none is false. Seven name
`GradScaler` in an annotation, where nothing warns; they are strict since. 260 of the fixes are safe, 455 are not, and 294
findings have none, most of them of `torch.norm`, `weight_norm` and `storage`.

Earlier readings, on 2026-11-22 and over fewer repositories, found one that was false, `isinstance(x,
torch.sparse.FloatTensor)`, which warns of nothing and is silent since. Fixes were read as diffs at 204 places, of which
none is wrong, and at 90 others, drawn at random, of which one was: it renamed `digits.train_data` where it is read, and
left the assignment to it beside it. Both are renamed now.
"""
_WAYS = {
    "decorator": "a decorator of deprecation in the source",
    "warning": "a warning in the source",
    "quiet warning": "a warning in the source that Python shows in the main program only",
    "raises": "a body that only raises",
    "helper": "made by a helper that deprecates",
    "docstring": "said in the documentation",
    "observed": "warned when it was run",
    "release notes": "said in the notes of a release before 1.0",
    "unannounced": "gone without a word, by the code of the releases",
    "quietly observed": "warned when it was run, in the main program only",
}


def kind(row: Deprecation) -> str:
    """What a row is about."""
    match row.when:
        case "":
            return "whole symbols, removed" if row.removed else "whole symbols, deprecated"
        case "given":
            return "parameters, removed" if row.removed else "parameters, deprecated"
        case "missing":
            return "parameters that are to be given"
        case "depends":
            return "uses that no text shows"
    return "values of parameters"


def instead(row: Deprecation) -> str:
    """What kind of replacement a row has."""
    match row.replacement:
        case "":
            return "no one answer: the message of the library"
        case "-":
            return "nothing: it has no effect"
        case text if row.parameter:
            return "another argument" if "=" in text else "another name"
        case text:
            return "a call of another shape" if "(" in text else "another name"


def page() -> str:
    """The text of the page."""
    rows = list(deprecations().values())
    parts = [_HEAD.format(count=len(rows))]
    parts.append(_counted("By kind", rows, lambda row: [kind(row)]))
    parts.append(
        _counted("By the way it was found (a row may have several)", rows, lambda row: [_WAYS[how] for how in row.found])
    )
    parts.append(_counted("By what to use instead", rows, lambda row: [instead(row)]))
    for library in LIBRARIES:
        own = [row for row in rows if row.library == library]
        whole = [row for row in own if not row.when]
        parts.append(_listed(f"{library}: whole symbols", whole))
        flags = ("pretrained", "pretrained_backbone")
        parts.append(
            _listed(f"{library}: parameters and uses", [row for row in own if row.when and row.parameter not in flags])
        )
        if models := {row.symbol for row in own if row.parameter in flags}:
            parts.append(
                f"`pretrained=` and `pretrained_backbone=` of {len(models)} functions that make models are TPL107's.\n"
            )
    return "\n".join(parts)


def _counted(title: str, rows: Iterable[Deprecation], kinds: Callable[[Deprecation], Iterable[str]]) -> str:
    counts = Counter((each, row.library) for row in rows for each in kinds(row))
    lines = [f"## {title}\n", f"| | {' | '.join(LIBRARIES)} | all |", "|---|---|---|---|---|"]
    for each in sorted({name for name, _ in counts}):
        numbers = [counts[each, library] for library in LIBRARIES]
        lines.append(f"| {each} | {' | '.join(map(str, numbers))} | {sum(numbers)} |")
    return "\n".join(lines) + "\n"


def _listed(title: str, rows: Sequence[Deprecation]) -> str:
    lines = [f"## {title}\n", "| | deprecated since | removed in | instead |", "|---|---|---|---|"]
    for row in rows:
        name = f"`{row.symbol}`" + (f" {_use(row)}" if row.when else "")
        new = "leave it out" if row.replacement == "-" else f"`{row.replacement}`" if row.replacement else ""
        lines.append(f"| {name} | {row.since} | {row.removed} | {new} |")
    return "\n".join(lines) + "\n"


def _use(row: Deprecation) -> str:
    match row.when:
        case "given":
            return f"with `{row.parameter}`"
        case "missing":
            return f"without `{row.parameter}`"
        case "depends":
            return f"with some `{row.parameter}`" if row.parameter else "in some uses"
    return f"with `{row.parameter}{row.when}`"


def main() -> int:
    """Writes the page, or compares it."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
