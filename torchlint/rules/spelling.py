"""How a file spells the classes and functions of torch's submodules."""

from __future__ import annotations

import ast

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.names import canonical


def spelled(name: str, node: ast.AST, semantics: Semantics, rewriter: Rewriter) -> tuple[str, list[TextEdit]]:
    """How ``node``'s scope spells an API such as ``torch.nn.ModuleList``, with the edits that import what that takes."""
    module, _, last = name.rpartition(".")
    bindings = semantics.bindings
    for wanted, tail in ((name, ""), (module, f".{last}")):
        for scope in (bindings.scope_of(node), bindings.module):
            for candidate, found in scope.bindings.items():
                if all(binding.form is Form.IMPORT and canonical(binding.imported) == wanted for binding in found):
                    if bindings.lookup(candidate, bindings.scope_of(node)) == tuple(found):
                        return candidate + tail, []
    for other in semantics.tree.nodes:
        if isinstance(other, ast.Name) and not bindings.reaching(other) and semantics.qualified_name(other) == module:
            if not bindings.lookup(other.id, bindings.scope_of(node)):
                return f"{other.id}.{last}", []
    torch, imports = rewriter.torch_name(node)
    return f"{torch}{name.removeprefix('torch')}", imports
