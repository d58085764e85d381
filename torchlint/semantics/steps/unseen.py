"""What code that the file does not show may do between two acts of a training step."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import dotted, given_to, last_name, walk_body
from torchlint.semantics.steps.acts import Deed
from torchlint.semantics.steps.rounds import Placed, Round
from torchlint.semantics.training.optimizers import root_of

_HARMLESS = re.compile(
    r"log|print|save|state|checkpoint|isinstance|^(len|id|type|repr|str|getattr|hasattr|bool)$", re.IGNORECASE
)
_CALLBACK = re.compile(r"callback|hook|(^|_)on_|before_|after_|event|dispatch|emit|fire", re.IGNORECASE)
_OWN = frozenset({"scale", "step", "update", "unscale_", "state_dict", "load_state_dict", "is_enabled"})
"""Methods of a scaler whose acts are known, or that do nothing to gradients."""
_OPTIMIZER = frozenset({"step", "zero_grad", "state_dict", "load_state_dict", "add_param_group"})
_LOOKS = re.compile(r"lr|sched|warm_?up|anneal|format|watch|parallel|prepare|initialize", re.IGNORECASE)
"""What is given an optimizer, and makes no step of it: a schedule, or what prepares it."""
_ACTS = re.compile(r"step|optimi[sz]e|update|backward|train|clip", re.IGNORECASE)
"""What methods are called that may do a part of a training step."""


class UnseenActs:
    """Tells of calls between two acts whether they may do another one, as far as the file does not show what they do."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._flow = semantics.control_flow
        self._calls_of: dict[FlowScope, list[ast.Call]] = {}

    def may_unscale(self, scaler: ast.expr, backward: Placed, use: Placed) -> bool:
        """Whether anything between a backward and what uses its gradients may unscale them, or divide by the scale."""
        scopes = dict.fromkeys(self._flow.scope(call) for placed in (backward, use) for call in placed.chain)
        for scope in scopes:
            starts = [call for call in backward.chain if self._flow.scope(call) is scope]
            ends = [call for call in use.chain if self._flow.scope(call) is scope]
            for call in self._calls(scope):
                if not self._touches(call, scaler):
                    continue
                behind = not starts or any(self._flow.may_follow(start, call) for start in starts)
                before = not ends or any(call is end or self._flow.may_follow(call, end) for end in ends)
                if (behind and before) or any(self._semantics.tree.inside(call, end) for end in ends):
                    return True
        return False

    def _calls(self, scope: FlowScope) -> list[ast.Call]:
        if scope not in self._calls_of:
            self._calls_of[scope] = [node for node in walk_body(scope.body) if isinstance(node, ast.Call)]
        return self._calls_of[scope]

    def _touches(self, call: ast.Call, scaler: ast.expr) -> bool:
        """Whether a call asks for the scale, or is of code that is not shown and can reach the scaler."""
        name, text = last_name(call.func), dotted(scaler)
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == text:
            return name not in _OWN
        given = given_to(call)
        if any(
            dotted(part) == text
            for argument in given
            for part in ast.walk(argument)
            if isinstance(part, (ast.Name, ast.Attribute))
        ):
            return not self._is_shown(call) and not _HARMLESS.search(name) and not self._is_of_scaler(call, given)
        return root_of(scaler) is not scaler and self._may_reach_object(call, root_of(scaler))

    def _is_of_scaler(self, call: ast.Call, given: list[ast.expr]) -> bool:
        """Whether the scaler is only within a call of its own methods: ``print(scaler.scale(loss))``."""
        return all(
            isinstance(parent := self._semantics.tree.parent(part), ast.Attribute) and parent.attr in _OWN
            for argument in given
            for part in ast.walk(argument)
            if isinstance(part, (ast.Name, ast.Attribute)) and "scaler" in last_name(part).lower()
        )

    def _is_shown(self, call: ast.Call) -> bool:
        return self._semantics.inference.call_graph.called(call) is not None

    def _may_reach_object(self, call: ast.Call, root: ast.expr) -> bool:
        """Whether a call is of a hidden method of the object that holds the scaler, or a callback that may know it."""
        if self._is_shown(call) or not isinstance(call.func, ast.Attribute):
            return False
        if _CALLBACK.search(dotted(call.func) or ""):
            return True
        if dotted(call.func.value) != dotted(root):
            return False
        definition = self._semantics.kind(root).definition
        is_stored = isinstance(definition, ast.ClassDef) and self._semantics.facts.slots(definition, call.func.attr)
        return not is_stored and not _HARMLESS.search(call.func.attr)

    def may_act(self, round_: Round) -> bool:
        """Whether code that the file does not show, and that a round runs, may do an act on the same optimizers."""
        optimizers = [placed.act.of for placed in round_.of(Deed.STEP) if placed.act.of is not None]
        known = {call for placed in round_.acts for call in placed.chain}
        scopes = dict.fromkeys(self._flow.scope(call) for placed in round_.acts for call in placed.chain)
        texts = {dotted(optimizer) for optimizer in optimizers} - {None}
        roots = {dotted(root_of(optimizer)) for optimizer in optimizers if root_of(optimizer) is not optimizer}
        return any(call not in known and self._may_act(call, texts, roots) for scope in scopes for call in self._calls(scope))

    def _may_act(self, call: ast.Call, texts: set[str | None], roots: set[str | None]) -> bool:
        if self._is_shown(call) or (self._semantics.qualified_name(call.func) or "").startswith("torch."):
            return False
        name = last_name(call.func)
        if _CALLBACK.search(dotted(call.func) or ""):
            return True
        given = given_to(call)
        if any(dotted(part) in texts for part in given):
            return not _HARMLESS.search(name) and not _LOOKS.search(name)
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) in roots:
            return _ACTS.search(name) is not None
        return isinstance(call.func, ast.Attribute) and dotted(call.func.value) in texts and name not in _OPTIMIZER
