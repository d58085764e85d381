"""Losses that are back-propagated through weights which an optimizer has changed since: that raises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, Type, torch_api
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import dotted, walk
from torchlint.semantics.steps.acts import Acts, Deed
from torchlint.semantics.steps.collected import CollectedBackwards
from torchlint.semantics.steps.rounds import Placed, Round, Rounds
from torchlint.semantics.training.optimizers import Optimizers

Node = TypeVar("Node")
Place = TypeVar("Place")

_OPTIMIZER = re.compile(r"(?<![a-z])(optimi[sz]er|optim|opt|solver)(?![a-z])|optimi[sz]er|optim", re.IGNORECASE)
_MODEL = re.compile(r"(?<![a-z])(net|model|network)(?![a-z])|^net|net$|model$", re.IGNORECASE)
"""What is said of an optimizer, and of a model, besides which one it is."""
_SHORT = {"discriminator": "d", "disc": "d", "dis": "d", "generator": "g", "gen": "g", "critic": "c", "encoder": "e"}
_DEEP = 6
"""So many variables may lie between a forward and the loss."""


@dataclass(frozen=True, eq=False, slots=True)
class StaleBackward(Generic[Node, Place]):
    """The ``forward`` of a model whose weights a ``step`` changes before the backward.

    The statements ``moved``, of which the step is the last, can come before the one that computes the ``loss``; there are none
    where that is not clear. With ``is_collected``, the forward is what a loop goes through, with a step in each round.
    """

    forward: Node
    step: Node
    moved: tuple[Place, ...]
    loss: Place | None
    is_collected: bool = False


@dataclass(frozen=True, slots=True)
class _Forward:
    """A call of a model, and the bindings by which its result gets to a loss."""

    call: ast.Call
    bindings: tuple[Binding, ...]


class StaleBackwards:
    """Finds the backward passes of a file that come too late."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._flow = semantics.control_flow
        self._optimizers = semantics.of(Optimizers)

    @cached_property
    def found(self) -> dict[ast.Call, StaleBackward[ast.expr, ast.stmt]]:
        """The backward calls that go through changed weights."""
        found: dict[ast.Call, StaleBackward[ast.expr, ast.stmt]] = {}
        for backward_call, each in self._semantics.of(CollectedBackwards).found.items():
            found[backward_call] = StaleBackward(each.items, each.step, (), None, is_collected=True)
        if sum(act.deed is Deed.BACKWARD for act in self._semantics.of(Acts).all) < 2:
            return found
        for round_ in self._semantics.of(Rounds).all:
            for backward in round_.of(Deed.BACKWARD):
                if backward.act.certain and backward.place is backward.act.call and backward.act.call not in found:
                    stale = self._stale(backward, round_)
                    if stale is not None:
                        found[backward.act.call] = stale
        return found

    def _stale(self, backward: Placed, round_: Round) -> StaleBackward[ast.expr, ast.stmt] | None:
        loss = backward.act.of
        steps = [step for step in round_.of(Deed.STEP) if step.act.certain and step.act.of is not None]
        if not isinstance(loss, ast.Name) or not steps:
            return None
        for forward in self._forwards(loss, (), _DEEP):
            model = dotted(forward.call.func)
            for step in steps:
                assert step.act.of is not None
                if self._changes(step.act.of, model) and self._is_between(forward, step, backward):
                    moved = self._moved(forward, step)
                    return StaleBackward(forward.call, step.act.call, moved[1:], moved[0] if moved else None)
        return None

    def _changes(self, optimizer: ast.expr, model: str | None) -> bool:
        """Whether an optimizer has the parameters of a model: by how it is made, or by its name where that is not in sight."""
        made = self._optimizers.makings(optimizer)
        if made is None:
            return model is not None and _is_named_after(dotted(optimizer) or "", model)
        trained = self._optimizers.trained(optimizer)
        return trained is not None and model in trained and (len(trained) == 1 or len(made) == 1)

    def _is_between(self, forward: _Forward, step: Placed, backward: Placed) -> bool:
        """Whether a step is made on every way from a forward to the backward."""
        flow, here = self._flow, self._flow.scope(backward.place)
        if flow.scope(forward.call) is not here:
            return False
        if not flow.may_follow(forward.call, step.place, avoiding=[backward.place]):
            return False
        if not flow.may_follow(step.place, backward.place, avoiding=[forward.call]):
            return False
        return not flow.may_follow(forward.call, backward.place, avoiding=[step.place])

    def _moved(self, forward: _Forward, step: Placed) -> tuple[ast.stmt, ...]:
        """The statement that computes a loss, and those up to the step, where these need nothing of it."""
        tree = self._semantics.tree
        first, last = tree.statement(forward.call), tree.statement(step.place)
        block = tree.block(first)
        if (
            not isinstance(first, ast.Assign)
            or last not in block
            or len(forward.bindings) != 1
            or not isinstance(last, ast.Expr)
        ):
            return ()
        moved = block[block.index(first) : block.index(last) + 1]
        names = {part.id for part in walk(first) if isinstance(part, ast.Name)}
        targets = {part.id for part in walk(first) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        for statement in moved[1:]:
            used = [part for part in walk(statement) if isinstance(part, ast.Name)]
            if any(part.id in targets or (part.id in names and not isinstance(part.ctx, ast.Load)) for part in used):
                return ()
        return tuple(moved) if all(isinstance(statement, (ast.Expr, ast.Assign)) for statement in moved) else ()

    def _is_single_layer(self, call: ast.Call) -> bool:
        """Whether a model is one layer of torch, which may have saved none of its weights."""
        name = self._semantics.kind(call.func).name
        return name.startswith("torch.nn.") and name not in ("torch.nn.Sequential", "torch.nn.DataParallel")

    def _may_cut(self, call: ast.Call) -> bool:
        """Whether a method of something unknown may give what has nothing of the graphs that it is given: a pool of images."""
        if not isinstance(call.func, ast.Attribute) or self._semantics.qualified_name(call.func) is not None:
            return False
        owner = call.func.value
        if self._semantics.facts.self_class(owner) is not None or self._semantics.kind(call.func).type is Type.MODULE:
            return False
        return call.func.attr not in torch_api.TENSOR_METHODS and self._semantics.kind(owner).type is not Type.MODULE

    def _forwards(self, value: ast.expr, bindings: tuple[Binding, ...], depth: int) -> Iterator[_Forward]:
        """The calls, of models among others, whose results a value is surely made of."""
        for part in connected(value, self._semantics.names, self._may_cut):
            if isinstance(part, ast.Call) and self._semantics.no_grad.covers(part):
                continue
            if isinstance(part, ast.Call) and dotted(part.func) and not self._is_single_layer(part):
                yield _Forward(part, bindings)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and depth:
                reaching = self._semantics.bindings.reaching(part)
                if len(reaching) == 1 and reaching[0].form is Form.ASSIGNMENT and reaching[0].value is not None:
                    if reaching[0] not in bindings:
                        yield from self._forwards(reaching[0].value, (*bindings, reaching[0]), depth - 1)


def _is_named_after(optimizer: str, model: str) -> bool:
    """Whether an optimizer is called after the one of several models: ``self.opt_D`` and ``self.netD``."""
    owner, _, name = optimizer.rpartition(".")
    of, _, called = model.rpartition(".")
    if owner != of or not _OPTIMIZER.search(name):
        return False
    own = _OPTIMIZER.sub("", name).strip("_").lower()
    which = _MODEL.sub("", called).strip("_").lower()
    return bool(own) and _SHORT.get(own, own) == _SHORT.get(which, which)
