"""What the code means: names, kinds and flow. Knows no rule, and of the text nothing but its syntax tree.

`Semantics` is the one way in: it holds the facts about one file, computed as far as they are asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar, cast

from torchlint.semantics import torch_api
from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.grad_mode import NoGrad
from torchlint.semantics.kinds.inference import Inference
from torchlint.semantics.kinds.kind import Basis, Grad, Kind, Type
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.project import Project

__all__ = ["Basis", "Binding", "Form", "Grad", "Kind", "Semantics", "Type", "torch_api"]

Analysis = TypeVar("Analysis")


class Semantics(Code):
    """The facts about one file: what is written in it, the kinds of its values, and every analysis that is asked for.

    In a ``project``, what the ``file`` imports from its other files is asked of them. Of a project ``around`` the file nothing
    is asked but who uses it.
    """

    def __init__(
        self, module: ast.Module, project: Project | None = None, file: str = "", around: Project | None = None
    ) -> None:
        super().__init__(module)
        self.elsewhere = Elsewhere(self, project, file, around)
        self.names.starred = self.elsewhere.starred
        self.facts = self.definitions
        self.facts.is_plain = self.elsewhere.is_plain
        self.no_grad = NoGrad(self)
        self.inference = Inference(self, self.no_grad, self.elsewhere)
        self._made: dict[Callable[[Semantics], Any], Any] = {}

    def of(self, analysis: Callable[[Semantics], Analysis]) -> Analysis:
        """The one instance of an analysis for this file; made when it is first asked for."""
        if (found := self._made.get(analysis)) is None:
            found = self._made[analysis] = analysis(self)
        return cast("Analysis", found)

    def let_go(self) -> None:
        """Forgets all that is known of the file, which goes at once: analyses know one another in circles, through this.

        Otherwise the file's tree, and ten times as much that rests on it, would wait for the garbage collector, which takes
        longer over them than all that they were made for.
        """
        for scope in self.bindings.scopes.values():
            scope.forget()
        for part in (*self._made.values(), *vars(self).values(), self):
            getattr(part, "__dict__", {}).clear()

    def qualified_name(self, node: ast.AST) -> str | None:
        """The dotted name of the API that ``node`` refers to, such as ``torch.nn.functional.relu``."""
        return self.names.qualified(node)

    def kind(self, node: ast.expr) -> Kind:
        """What ``node`` evaluates to, as far as the file tells."""
        return self.inference.kind(node)
