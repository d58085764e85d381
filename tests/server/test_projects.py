"""What is typed in one file of a project counts for the others that are open, before it is saved."""

from __future__ import annotations

import asyncio
from pathlib import Path

from editor import Editor, brief

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)
"""
PLAIN = MODEL.replace("nn.Dropout(0.5)", "nn.Linear(2, 2)")
USER = """\
import torch
from models import Net


def predict(x):
    model = Net()
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
    with torch.no_grad():
        return model(x)
"""


def project(folder: Path) -> tuple[Path, Path]:
    """The files of a model and of its user."""
    (folder / "pyproject.toml").write_text("")
    (folder / "models.py").write_text(MODEL)
    (folder / "main.py").write_text(USER)
    return folder / "models.py", folder / "main.py"


def test_a_change_in_one_buffer_changes_what_is_found_in_another(tmp_path: Path) -> None:
    models, main = project(tmp_path)

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            user = editor.open(main, USER)
            assert await editor.shown(user) == ["7 TPL504"]
            model = editor.open(models, MODEL)
            assert await editor.shown(model) == []

            def shown() -> list[str]:
                return brief(editor.published[user].diagnostics)

            editor.change(model, whole=PLAIN)
            await editor.until(lambda: shown() == [])
            editor.change(model, whole=MODEL)
            await editor.until(lambda: shown() == ["7 TPL504"])
            editor.change(model, whole=PLAIN)
            await editor.until(lambda: shown() == [])
            assert models.read_text() == MODEL
            editor.close(model)  # without saving
            await editor.until(lambda: shown() == ["7 TPL504"])

    asyncio.run(run())


def test_what_is_no_python_for_a_moment_says_what_it_did_before(tmp_path: Path) -> None:
    models, main = project(tmp_path)

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            user, model = editor.open(main, USER), editor.open(models, PLAIN)
            await editor.until(lambda: user in editor.published and not editor.published[user].diagnostics)
            editor.change(model, whole=PLAIN + "def (")
            assert await editor.shown(model) == ["8 invalid-syntax"]
            editor.change(user, whole=USER + "\n")
            assert await editor.shown(user) == []

    asyncio.run(run())


def test_a_change_that_says_nothing_new_has_nothing_else_looked_at(tmp_path: Path) -> None:
    models, main = project(tmp_path)

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            user, model = editor.open(main, USER), editor.open(models, MODEL)
            assert await editor.shown(user) == ["7 TPL504"]
            assert await editor.shown(model) == []
            before = editor.count
            for number in range(3):
                editor.change(model, whole=MODEL + f"# {number}\n")
                assert await editor.shown(model) == []
            editor.change(model, whole=PLAIN)
            await editor.until(lambda: not editor.published[user].diagnostics)
            assert editor.count == before + 5  # four of the model, and one of its user

    asyncio.run(run())


def test_a_file_that_is_saved_by_others_counts_when_something_is_saved(tmp_path: Path) -> None:
    models, main = project(tmp_path)

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            user = editor.open(main, USER)
            assert await editor.shown(user) == ["7 TPL504"]
            models.write_text(PLAIN)
            editor.save(user)
            await editor.until(lambda: not editor.published[user].diagnostics)

    asyncio.run(run())


def test_a_buffer_without_a_file_can_be_imported(tmp_path: Path) -> None:
    _, main = project(tmp_path)
    text = USER.replace("models", "others")

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            user = editor.open(main, text)
            assert await editor.shown(user) == []
            editor.open(tmp_path / "others.py", MODEL)
            await editor.until(lambda: brief(editor.published[user].diagnostics) == ["7 TPL504"])

    asyncio.run(run())
