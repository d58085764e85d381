"""Code that runs where there is no GPU, or none is used: ``else`` of ``if device.type == "cuda":``."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.conditions.assumptions import Assumptions

_FLAG = re.compile(r"^(is_|use_|using_|has_|have_|on_|with_|to_)?(cuda|gpu)s?(_(available|enabled|on))?$", re.IGNORECASE)
"""What the flags are called that say whether a GPU is used."""


class WithoutGpu:
    """Tells of the code of one file whether the conditions around it say that it does not run on a GPU."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def covers(self, node: ast.AST) -> bool:
        """Whether a node runs only where there is no GPU."""
        return any(self._says_none(test, holds) for test, holds in self._semantics.of(Assumptions).guards(node))

    def _says_none(self, test: ast.expr, holds: bool) -> bool:
        """Whether no GPU is used where a test comes out so."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._says_none(operand, not holds)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
                return any(self._says_none(value, holds) for value in values)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot() as operator], comparators=[right]):
                is_equal = isinstance(operator, (ast.Eq, ast.Is)) is holds
                return any(
                    (_is_text(each, "cpu") and is_equal) or (_is_text(each, "cuda") and not is_equal) for each in (left, right)
                )
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[right]):
                return _is_text(left, "cuda") and _speaks_of_device(right) and isinstance(operator, ast.NotIn) is holds
            case ast.Call(func=ast.Attribute(value=device, attr="startswith"), args=[prefix]):
                return _is_text(prefix, "cuda") and _speaks_of_device(device) and not holds
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) == "torch.cuda.is_available" and not holds
            case ast.Name() | ast.Attribute():
                return _FLAG.search(last_name(test)) is not None and not holds
        return False


def _is_text(node: ast.expr, kind: str) -> bool:
    """Whether a device is written out, ``"cpu"`` or ``torch.device("cpu")``; not the first of several GPUs."""
    match node:
        case ast.Constant(value=value):
            return value == kind
        case ast.Call(func=function, args=[ast.Constant(value=value)]):
            return last_name(function) == "device" and value == kind
    return False


def _speaks_of_device(node: ast.expr) -> bool:
    """Whether a value is a device by its name: ``str(self.device)``."""
    return any(
        "dev" in (part.id if isinstance(part, ast.Name) else part.attr).lower()
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
