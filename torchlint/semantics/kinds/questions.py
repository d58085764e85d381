"""What the parts of the inference ask of the whole."""

from __future__ import annotations

import ast
from typing import Protocol

from torchlint.semantics.code import Code
from torchlint.semantics.code.tree import Function
from torchlint.semantics.kinds.grad_mode import NoGrad
from torchlint.semantics.kinds.kind import Kind
from torchlint.semantics.summaries.elsewhere import Elsewhere
from torchlint.semantics.summaries.own_autograd import OwnAutograd


class Kinds(Protocol):
    """Who knows the kind of every expression; see `torchlint.semantics.kinds.inference.Inference`."""

    code: Code
    no_grad: NoGrad
    elsewhere: Elsewhere
    own_autograd: OwnAutograd

    def kind(self, node: ast.expr) -> Kind:
        """What ``node`` evaluates to."""
        ...

    def returned(self, function: Function) -> Kind:
        """What calling a function of the file gives."""
        ...

    def annotated(self, annotation: ast.expr | None) -> Kind:
        """What a value with this annotation is."""
        ...
