"""Whether anybody can tell a tensor that was copied to where it is wanted from one that was made there."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.certainty.passing_uses import PassingUses
from torchlint.semantics.code.expected_errors import is_awaited


class UnseenMoves:
    """Tells of the calls that copy a new tensor what would be noticed without them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._uses = semantics.of(PassingUses)

    def is_only_read(self, copied: ast.Call) -> bool:
        """Whether nobody changes a copy in place: it is read where it is made, or by its one name. A view in its place refuses
        changes where it was made without autograd, and `detach_` anywhere (ran).
        """
        match self._semantics.tree.parent(copied):
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                if binding is None or binding.form is not Form.ASSIGNMENT:
                    return False
                others = binding.scope.bindings.get(binding.name, ())
                return not any(binding in other.before for other in others) and self._uses.all_only_read(binding.uses)
        return self._uses.only_read(copied)

    def may_be_refused(self, factory: ast.Call, *, beside: bool) -> bool:
        """Whether a move may raise what the code awaits, and the factory would not: to where a sparse tensor is, ``beside``
        which it is wanted, or from a default device without data.
        """
        may_raise = beside or "set_default_device" in self._semantics.words.all
        return may_raise and is_awaited(self._semantics.tree, factory)
