"""Where libcst nodes come to stand in the code that they write: the place of everything, brackets, commas and comments too."""

from __future__ import annotations

from typing import TypeAlias

import libcst as cst
from libcst._nodes.internal import CodegenState  # not public, and pinned by a test: the public way takes ten times as long

Written: TypeAlias = list[tuple[cst.CSTNode, int, int]]
"""Nodes with the offsets at which they start and end."""


class _Recording(CodegenState):
    """Writes code and notes where each node comes to stand."""

    def __init__(self, module: cst.Module, indentation: str) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.indent_tokens = [indentation] if indentation else []
        self.length = 0
        self.nodes: Written = []
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._open: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.length += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def pop_trailing_newline(self) -> None:
        if self.tokens:
            self.length -= len(self.tokens.pop())

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self._open:
            self.parents[node] = self.nodes[self._open[-1]][0]
        self._open.append(len(self.nodes))
        self.nodes.append((node, self.length, self.length))

    def after_codegen(self, node: cst.CSTNode) -> None:
        index = self._open.pop()
        self.nodes[index] = (node, self.nodes[index][1], self.length)


def written(node: cst.CSTNode, module: cst.Module, indentation: str = "") -> tuple[str, Written]:
    """The code of ``node``, in the manner of ``module``, and where each node below it stands in that; parents first."""
    state = _recorded(node, module, indentation)
    return "".join(state.tokens), state.nodes


def written_with_parents(module: cst.Module) -> tuple[str, Written, dict[cst.CSTNode, cst.CSTNode]]:
    """The code of a module, where each of its nodes stands in that, and what each is a part of."""
    state = _recorded(module, module)
    return "".join(state.tokens), state.nodes, state.parents


def _recorded(node: cst.CSTNode, module: cst.Module, indentation: str = "") -> _Recording:
    state = _Recording(module, indentation)
    node._codegen(state)
    return state
