"""What is written where, who is bound, what may run after what. Knows no torch but how its names are spelt.

`Code` holds it for one file. Any package of the semantics may ask; this one imports none of them.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics.code.bindings import Bindings
from torchlint.semantics.code.control_flow import ControlFlow
from torchlint.semantics.code.definitions import Definitions
from torchlint.semantics.code.names import Names
from torchlint.semantics.code.tree import Tree
from torchlint.semantics.code.words import Words

__all__ = ["Code"]


class Code:
    """What is written in one file."""

    def __init__(self, module: ast.Module) -> None:
        self.tree = Tree(module)
        self.bindings = Bindings(self.tree)
        self.control_flow = ControlFlow(self.tree)
        self.names = Names(self.tree, self.bindings)
        self.definitions = Definitions(self.tree, self.bindings, self.names)

    @cached_property
    def words(self) -> Words:
        """The words that the code says."""
        return Words(self.tree)
