"""Code actions: quick fixes of findings, comments that silence them, and all safe fixes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from torchlint.diagnostic import Applicability, Diagnostic, Edit
from torchlint.server import answers
from torchlint.server.jobs import FixAll, Silence
from torchlint.server.programs import Document, Program
from torchlint.server.session import Session

FIX_ALL = "source.fixAll.torchlint"
KINDS = [lsp.CodeActionKind.QuickFix, FIX_ALL]


class Actions:
    """Offers actions; what takes the worker is made when it is asked for, where the client can wait for that."""

    def __init__(self, session: Session, *, lazy: bool, versioned: bool) -> None:
        self._session = session
        self._lazy = lazy
        self._versioned = versioned

    async def offered(
        self, program: Program, document: Document, where: lsp.Range, only: Sequence[str] | None
    ) -> list[lsp.CodeAction]:
        """The actions for the findings in a range and, where it is wanted, the one for all of a program."""
        await self._session.mended(program)
        settings = self._session.settings(program)
        found: list[lsp.CodeAction] = []
        if not settings.enable:
            return found
        if _wanted(lsp.CodeActionKind.QuickFix, only):
            here = list(_at(program, document, where))
            found += [self._fix(program, document, each) for each in here if self._offers(each, unsafe=settings.unsafe_fixes)]
            for index, each in self._silenceable(program, document, here):
                found.append(await self._made(self._comment(program, document, each, index)))
        if settings.fix_all and _wanted(FIX_ALL, only) and (only or self._has_safe_fix(program)):
            found.append(await self._made(_all_fixes(program)))
        return [each for each in found if each.edit is not None or each.data is not None]

    async def resolved(self, action: lsp.CodeAction) -> lsp.CodeAction:
        """An action with its edit; without one where the text has changed since it was offered."""
        data = action.data
        program = self._session.programs.get(data["program"]) if isinstance(data, dict) else None
        if program is None or not isinstance(data, dict):
            return action
        await self._session.up_to_date(program)
        if data["revision"] != program.revision:
            return action
        edits = await self._edits(program, data)
        if program.revision == data["revision"] and edits:
            action.edit = answers.workspace_edit(program, edits, versioned=self._versioned)
        return action

    # --- the actions --------------------------------------------------------------------------------------------------

    def _fix(self, program: Program, document: Document, found: Diagnostic) -> lsp.CodeAction:
        assert found.fix is not None
        return lsp.CodeAction(
            f"{found.code}: {found.fix.title}",
            lsp.CodeActionKind.QuickFix,
            [answers.diagnostic(found, document.text)],
            found.fix.applicability is Applicability.SAFE,
            edit=answers.workspace_edit(program, found.fix.edits, versioned=self._versioned),
        )

    def _comment(self, program: Program, document: Document, found: Diagnostic, index: int) -> lsp.CodeAction:
        return lsp.CodeAction(
            f"{found.code}: silence with noqa on this line",
            lsp.CodeActionKind.QuickFix,
            [answers.diagnostic(found, document.text)],
            is_preferred=False,
            data={"program": program.uri, "revision": program.revision, "document": document.uri, "index": index},
        )

    async def _made(self, action: lsp.CodeAction) -> lsp.CodeAction:
        """The action with its edit, unless the client asks for that later."""
        if self._lazy:
            return action
        made = await self.resolved(action)
        made.data = None
        return made

    async def _edits(self, program: Program, data: dict[str, object]) -> Sequence[Edit]:
        """What is done for an action that was offered without its edit."""
        buffer = self._session.buffer(program)
        uri, index = data.get("document"), data.get("index")
        if not isinstance(uri, str) or not isinstance(index, int):
            made = await self._session.ask(FixAll(buffer))
            return made if isinstance(made, list) else []
        diagnostics = program.found[uri].diagnostics
        edit = await self._session.ask(Silence(buffer, diagnostics[index])) if index < len(diagnostics) else None
        return [edit] if isinstance(edit, Edit) else []

    def _offers(self, found: Diagnostic, *, unsafe: bool) -> bool:
        return found.fix is not None and (unsafe or found.fix.applicability is Applicability.SAFE)

    def _silenceable(
        self, program: Program, document: Document, here: Sequence[Diagnostic]
    ) -> Iterator[tuple[int, Diagnostic]]:
        """The findings that a comment can be for, with their places among those of the document: one for each code and line."""
        seen: set[tuple[str, int]] = set()
        for index, each in enumerate(program.found[document.uri].diagnostics if document.uri in program.found else ()):
            key = (each.code, each.location.row)
            if each in here and key not in seen:
                seen.add(key)
                yield index, each

    def _has_safe_fix(self, program: Program) -> bool:
        return any(self._offers(each, unsafe=False) for found in program.found.values() for each in found.diagnostics)


def _all_fixes(program: Program) -> lsp.CodeAction:
    data = {"program": program.uri, "revision": program.revision}
    return lsp.CodeAction("torchlint: make all safe fixes", FIX_ALL, data=data)


def _wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether actions of a kind are asked for: by that kind or one that it belongs to."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _at(program: Program, document: Document, where: lsp.Range) -> Iterator[Diagnostic]:
    """The findings that a range touches."""
    start = document.text.location(where.start.line, where.start.character)
    end = document.text.location(where.end.line, where.end.character)
    found = program.found.get(document.uri)
    for each in found.diagnostics if found is not None else ():
        if each.location <= end and start <= each.end_location:
            yield each
