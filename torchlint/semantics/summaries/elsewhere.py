"""What the other files of the project say of the names that one file imports; without a project nothing."""

from __future__ import annotations

import ast
import os
from functools import cached_property

from torchlint.semantics.code import Code
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.scopes import Form
from torchlint.semantics.summaries.callers import Callers
from torchlint.semantics.summaries.lookup import (
    ClassElsewhere,
    FunctionElsewhere,
    Lookup,
    Outside,
    Target,
    ValueElsewhere,
    agreed,
)
from torchlint.semantics.summaries.project import Project
from torchlint.semantics.summaries.summary import Act, Place

_TELLING = (ClassElsewhere, ValueElsewhere, Outside)
"""What matters by itself; a function does by what it gives, or does with an argument."""
_MOST_STARRED = 200
"""So many files that import everything of one another are looked through."""
_PLAIN = (Outside("builtins.object"), Outside("abc.ABC"))


class Elsewhere:
    """Follows what a file imports into the files that it is from, where somebody asks for it."""

    def __init__(self, code: Code, project: Project | None, file: str, around: Project | None = None) -> None:
        self._code = code
        self.file = file
        self.around = project if around is None else around
        """The project, for those who ask who uses what the file has; also where the file is looked at alone."""
        self._project = project
        self._lookup = Lookup(project) if project is not None else None
        self.callers = Callers(code.tree.module, project, file) if project is not None else None
        """Who calls what this file defines; there is something only in a project."""
        self._found: dict[str, Target | None] = {}
        self.has_said = False
        """Whether anything was found so far that may matter: if not, all is as it is without a project."""

    @property
    def is_in_project(self) -> bool:
        """Whether there are other files to ask."""
        return self._lookup is not None

    @property
    def lookup(self) -> Lookup:
        """What is asked of what was found; there is something only in a project."""
        assert self._lookup is not None
        return self._lookup

    def shown(self, file: str) -> str:
        """How a file of the project is named to people: by its path from this one's folder."""
        return os.path.relpath(file, os.path.dirname(self.file)).replace(os.sep, "/")

    def target(self, node: ast.AST) -> Target | None:
        """What a name, or a chain of attributes on one, stands for by the project's other files; `None` if they do not say."""
        if self._lookup is None or not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return None
        name = self._code.names.qualified(node)
        if name is None:
            return None
        bindings = self._code.bindings.reaching(root)
        if not bindings:
            return self._starred(name.removeprefix("builtins.")) if self._stars else None
        imports = dict.fromkeys(each.imported for each in bindings if each.form is Form.IMPORT)
        if len(imports) > 1 and not name.startswith("torch."):
            rest = ast.unparse(node).removeprefix(root.id)
            return agreed([self.imported(each + rest) for each in imports])
        return self.imported(name)

    def imported(self, name: str) -> Target | None:
        """What the full name of an import stands for, where that leads to another file of the project."""
        if self._lookup is None or name.startswith(("torch.", "builtins.")):
            return None
        if name not in self._found:
            found = self._lookup.imported(name, self.file)
            self._found[name] = None if isinstance(found, Outside) and found.name == canonical(name) else found
            self.has_said = self.has_said or isinstance(self._found[name], _TELLING)
        return self._found[name]

    def may_have(self, module: str, names: tuple[str, ...]) -> bool:
        """Whether a module may have one of some names that leads to what another file defines; it may where that is in doubt.

        That is far sooner told than what a name stands for: no file is summed up.
        """
        pending, seen = [(module, self.file)], set[str]()
        while pending and self._project is not None:
            name, file = pending.pop()
            parts = [part for part in name.lstrip(".").split(".") if part]
            for place in self._project.module(name, file):
                inner: Place | None = place
                for part in parts if name.startswith(".") else parts[1:]:
                    inner = self._project.inner(inner, part) if inner is not None else None
                if inner is None or len(seen) > _MOST_STARRED:
                    return True
                if inner.file and inner.file not in seen:
                    seen.add(inner.file)
                    origins = self._project.may_bind(inner.file, names)
                    if "" in origins:
                        return True
                    pending.extend((each, inner.file) for each in origins)
        return False

    def function(self, node: ast.AST) -> FunctionElsewhere | None:
        """The function of another file that an expression refers to."""
        found = self.target(node)
        return found if isinstance(found, FunctionElsewhere) else None

    def module_class(self, node: ast.AST) -> ClassElsewhere | None:
        """The class of another file that an expression refers to, if its instances are modules."""
        found = self.target(node)
        return found if isinstance(found, ClassElsewhere) and self.lookup.is_module(found) else None

    def has_method(self, found: Target | None, name: str) -> bool:
        """Whether a class of another file, or one of its bases in the project, has a method of that name itself."""
        bases = self.lookup.bases(found) if isinstance(found, ClassElsewhere) else ()
        return any(isinstance(base, ClassElsewhere) and name in base.summary.methods for base in bases)

    def is_plain(self, node: ast.AST) -> bool:
        """Whether an expression refers to another file's class of which all bases are known, and none is a module."""
        found = self.target(node)
        if not isinstance(found, ClassElsewhere):
            return False
        bases = list(self.lookup.bases(found))
        return all(isinstance(base, ClassElsewhere) or base in _PLAIN for base in bases)

    def acts(self, call: ast.Call, argument: ast.expr) -> tuple[Act, ...] | None:
        """What the function of another file that is called does with an argument; `None` where that is not known."""
        function = self.function(call.func)
        if function is None or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        acts = self.lookup.acts(function, _place(call, argument))
        self.has_said = self.has_said or acts is not None
        return acts

    def runs(self, call: ast.Call, argument: ast.expr) -> bool | None:
        """Whether the function of another file that is called runs an argument in a loop; `None` where it may not run it."""
        function = self.function(call.func)
        if function is None or any(isinstance(each, ast.Starred) for each in call.args):
            return None
        looped = self.lookup.runs_given(function, _place(call, argument))
        self.has_said = self.has_said or looped is not None
        return looped

    def differentiates(self, call: ast.Call) -> bool:
        """Whether the function of another file that is called asks autograd for gradients, with autograd as it is."""
        function = self.function(call.func)
        found = function is not None and function.summary.differentiates
        self.has_said = self.has_said or found
        return found

    def speaks_of(self, topic: str, *, near: bool = False) -> bool | None:
        """Whether any file of the project speaks of a topic, `project.topics` has which; `None` where that is not known.

        ``near`` asks the files in the folder of this one, and below, alone.
        """
        found = self._project.speaks_of(topic, near=near) if self._project is not None else None
        self.has_said = self.has_said or found is not None
        return found

    @cached_property
    def is_record(self) -> bool:
        """Whether a run has left the file beside its results, as a copy of another one of the project."""
        return self.around is not None and self.around.is_record

    def starred(self, name: str) -> str | None:
        """The full name of an API of torch that the file has by importing everything of another file."""
        found = self._starred(name) if self._lookup is not None and self._stars else None
        return found.name if isinstance(found, Outside) and found.name.startswith("torch.") else None

    def _starred(self, name: str) -> Target | None:
        key = f"* {name}"
        if key not in self._found:
            assert self._lookup is not None
            first, *rest = name.split(".")
            found = (self._lookup.star(module, first, self.file) for module in reversed(self._stars))
            self._found[key] = next((each for each in found if each is not None), None) if not rest else None
            self.has_said = self.has_said or isinstance(self._found[key], _TELLING)
        return self._found[key]

    @cached_property
    def _stars(self) -> list[str]:
        """The modules that the file imports everything of, but for those of torch."""
        found = []
        for node in self._code.tree.of_type(ast.ImportFrom):
            if node.names[0].name == "*" and (node.level or (node.module or "").partition(".")[0] != "torch"):
                found.append("." * node.level + (node.module or ""))
        return found


def _place(call: ast.Call, argument: ast.expr) -> str:
    """Where an argument stands in a call: its index, or its keyword."""
    place = str(call.args.index(argument)) if argument in call.args else ""
    return next((word.arg or "" for word in call.keywords if word.value is argument), place)
