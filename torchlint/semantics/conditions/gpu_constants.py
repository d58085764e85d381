"""Names for the one GPU: constants of other files, ``DEV = "cuda:0"``, and the current one."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics


class GpuConstants:
    """Tells of devices that a file has from elsewhere whether they are the one GPU."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_gpu(self, device: ast.expr) -> bool:
        """Whether a name, or one of a module, is imported, and each file that assigns to it writes out the first GPU.

        So is the current one, to which ``cuda()`` moves when it is told nothing.
        """
        match device:
            case ast.Call(func=function, args=[], keywords=[]):
                return self._semantics.qualified_name(function) == "torch.cuda.current_device"
            case ast.Name(id=name):
                root = device
            case ast.Attribute(value=ast.Name() as root, attr=name):
                pass
            case _:
                return False
        bindings = self._semantics.bindings.reaching(root)
        is_imported = all(each.form is Form.IMPORT for each in bindings) and (bool(bindings) or self._may_be_starred(device))
        return is_imported and self._semantics.elsewhere.speaks_of(f"constant GPUs: {name}") is True

    def _may_be_starred(self, device: ast.expr) -> bool:
        imports = self._semantics.tree.of_type(ast.ImportFrom)
        return isinstance(device, ast.Name) and any(alias.name == "*" for each in imports for alias in each.names)
