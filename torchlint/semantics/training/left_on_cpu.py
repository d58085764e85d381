"""Models that a file makes and saves without a word of any device, and loads again by the same name."""

from __future__ import annotations

import ast
from typing import TypeGuard

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import argument, last_name
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.own_files import DEVICE


class LeftOnCpu:
    """Tells of loads whether the model that they are for has never left the CPU."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_left_on_cpu(self, load: ast.Call) -> bool:
        """Whether a function makes a model, loads into it what it has saved by the same name, and no device is spoken of.

        So it is of an optimizer beside it, and of a script as of a function, where that calls the class of the model.
        """
        match load, self._semantics.tree.parent(load):
            case (
                ast.Call(args=[given, *_]),
                ast.Call(func=ast.Attribute(attr="load_state_dict", value=ast.Name() as model)),
            ) if not self._semantics.words.match(DEVICE) and (path := self._text(given)) is not None:
                function = self._semantics.tree.function(load)
                if not self._is_made_here(model, of_class=function is None):
                    return False
                saves = (
                    save for save in self._semantics.of(SavedFiles).saves if self._semantics.tree.function(save) is function
                )
                files = (argument(save, 1, "f") for save in saves)
                return any(file is not None and self._text(file) == path for file in files)
        return False

    def _is_made_here(self, name: ast.Name, *, of_class: bool) -> bool:
        """Whether a name has what a call gives on every way, or one ``of_class``, by its name: a function may put it anywhere.

        Of an optimizer the models are asked for, too, whose parameters it is given.
        """
        made = self._made(name)
        owners = [part.value for each in made for part in ast.walk(each) if _is_parameters(part)]
        for owner in owners:
            given = self._made(owner) if isinstance(owner, ast.Name) else []
            if not given:
                return False
            made += given
        return bool(made) and (not of_class or all(last_name(each.func)[:1].isupper() for each in made))

    def _made(self, name: ast.Name) -> list[ast.Call]:
        """The calls that give a name its values; none where another one does."""
        bindings = self._semantics.bindings.reaching(name)
        calls = [each.value for each in bindings if each.form is Form.ASSIGNMENT and isinstance(each.value, ast.Call)]
        return calls if len(calls) == len(bindings) else []

    def _text(self, path: ast.expr) -> str | None:
        """The text that a path is, as it is written out there, or where the one name that it has got it."""
        path = self._semantics.bindings.assigned(path) or path
        return path.value if isinstance(path, ast.Constant) and isinstance(path.value, str) else None


def _is_parameters(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "parameters"
