"""Code that says itself on which device its tensors are to be."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import walk


def says_device(code: ast.AST | None) -> bool:
    """Whether code moves something, or makes it on a device: ``self.fc.cuda()``, ``nn.Linear(3, 3, device=device)``."""
    for part in walk(code) if code is not None else ():
        match part:
            case ast.Call(func=ast.Attribute(attr="cuda" | "to")) | ast.keyword(arg="device"):
                return True
    return False
