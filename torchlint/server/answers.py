"""Findings, edits and explanations as the protocol has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from lsprotocol import types as lsp

from torchlint.diagnostic import Diagnostic, Edit, FileError, Location
from torchlint.server.jobs import Described, Explained
from torchlint.server.programs import Document, Program
from torchlint.server.texts import Text

SOURCE = "torchlint"
_TAGS = {
    **dict.fromkeys(
        ("TPL101", "TPL103", "TPL105", "TPL106", "TPL107", "TPL108", "TPL109", "TPL110", "TPL111"), lsp.DiagnosticTag.Deprecated
    ),
    "TPL900": lsp.DiagnosticTag.Unnecessary,
}
"""What editors strike through, and what they fade."""
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_LONGEST = 100
"""How many characters of a value that a hazard program saw are shown."""


def range_of(text: Text, start: Location, end: Location) -> lsp.Range:
    """The range between two places."""
    return lsp.Range(lsp.Position(*text.place(start)), lsp.Position(*text.place(end)))


def diagnostic(found: Diagnostic, text: Text) -> lsp.Diagnostic:
    """A finding for the client, with its rule's page behind the code."""
    tag = _TAGS.get(found.code)
    return lsp.Diagnostic(
        range_of(text, found.location, found.end_location),
        found.message,
        _SEVERITIES[found.severity],
        found.code,
        lsp.CodeDescription(found.url) if found.url else None,
        SOURCE,
        [tag] if tag is not None else None,
    )


def error(wrong: FileError, text: Text) -> lsp.Diagnostic:
    """What stands against looking at a text, for the client: at its place or, where it has none, at the first line."""
    place = wrong.location or Location(1, 1)
    line, column = text.place(place)
    end = text.place(text.location(line, column + 1)) if wrong.location else text.place(Location(1, len(text.lines[0]) + 1))
    return lsp.Diagnostic(
        lsp.Range(lsp.Position(line, column), lsp.Position(*end)),
        wrong.message,
        lsp.DiagnosticSeverity.Error,
        wrong.code,
        source=SOURCE,
    )


def text_edits(program: Program, edits: Iterable[Edit]) -> dict[str, list[lsp.TextEdit]]:
    """Edits of a program by the addresses of the documents that they change."""
    found: dict[str, list[lsp.TextEdit]] = {}
    for edit in edits:
        document = program.by_cell(edit.cell)
        if document is not None:
            where = range_of(document.text, edit.location, edit.end_location)
            found.setdefault(document.uri, []).append(lsp.TextEdit(where, edit.content))
    return found


def workspace_edit(program: Program, edits: Iterable[Edit], *, versioned: bool) -> lsp.WorkspaceEdit:
    """Edits of a program for the client; where it can, ``versioned``, for these versions of the documents and no others."""
    by_document = text_edits(program, edits)
    if not versioned:
        return lsp.WorkspaceEdit(changes=by_document)
    changes: list[lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile] = []
    for uri, made in by_document.items():
        document = program.of(uri)
        version = document.version if document is not None else None
        changes.append(lsp.TextDocumentEdit(lsp.OptionalVersionedTextDocumentIdentifier(uri, version), list(made)))
    return lsp.WorkspaceEdit(document_changes=changes)


# --- hovers ----------------------------------------------------------------------------------------------------------


def about(found: Diagnostic, described: Described | None) -> str:
    """A finding at length, in Markdown: what, why, and what its rule's hazard program showed."""
    title = f"[{found.code}]({found.url})" if found.url else found.code
    parts = [f"**{title} {found.name}**: {found.message}"]
    if described is not None:
        parts += [described.what.split("\n\n")[0], f"**Why is this bad?** {described.why.split(chr(10) * 2)[0]}"]
        parts += [
            f"**Proof** ({device}): {_seen(before)} → fixed: {_seen(after)}" for device, before, after in described.proofs[:1]
        ]
    return "\n\n".join(part for part in parts if part)


def known(explained: Explained) -> str:
    """What is known of an expression, in Markdown."""
    lines = [f"`{_shortened(explained.text)}`: {explained.kind}", *(f"- {_plain(detail)}" for detail in explained.details)]
    return "\n".join(lines)


def hover(parts: Sequence[str], where: lsp.Range, *, markdown: bool) -> lsp.Hover:
    """A hover of several parts."""
    kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
    return lsp.Hover(lsp.MarkupContent(kind, "\n\n---\n\n".join(parts)), where)


def covers(found: Diagnostic, document: Document, line: int, column: int) -> bool:
    """Whether a finding is at a place."""
    return found.location <= document.text.location(line, column) <= found.end_location


def _seen(values: Mapping[str, object]) -> str:
    return ", ".join(f"{key} `{_value(value)}`" for key, value in values.items())


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _shortened(text.replace("`", "'"))


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


def _plain(text: str) -> str:
    """A line of an explanation, in which underscores and stars are what they are."""
    if "`" in text:
        return text
    head, colon, tail = text.partition(": ")
    return f"{head}{colon}`{tail}`" if colon and ("_" in tail or "*" in tail) else text
