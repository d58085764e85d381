"""Whether a method that is named as a statement may be called there: by whose it is, and what stands around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.certainty.losses import Losses
from torchlint.semantics.certainty.own_tensors import OwnTensors
from torchlint.semantics.certainty.replaceable import Replaceable
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.certainty.torch_objects import TorchObjects
from torchlint.semantics.code import expected_errors
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.training.optimizers import Optimizers

_EVENTS = frozenset({"backward", "step", "zero_grad"})
"""The methods of a training step whose order counts."""
_STEADY_SCHEDULERS = frozenset(
    f"torch.optim.lr_scheduler.{name}" for name in ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR")
)
"""Schedulers that step without an argument, as often as one likes, and run no code of the file."""
_STEP_HOOKS = frozenset(
    {"register_step_pre_hook", "register_step_post_hook"} | {f"register_optimizer_step_{when}_hook" for when in ("pre", "post")}
)


class MeantCalls:
    """Tells of methods that are named, and not called, whether the program does what it was meant to once they are.

    Certain are a few shapes of training code, where the owner is made of torch in sight and nothing else calls the method.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._objects = semantics.of(TorchObjects)

    def call(self, method: ast.Attribute) -> Fact:
        """Whether ``method`` may be called where it is named."""
        if expected_errors.is_awaited(self._tree, method):
            return unknown("the code may only ask whether there is such a method")
        name = self._semantics.qualified_name(method) or ""
        if name.startswith("torch."):
            return self._function(method, name)
        owner = method.value
        if any(each is not method and self._is_same(each, owner) for each in self._named.get(method.attr, ())):
            return unknown(f"`{shortened(method)}` is called or named elsewhere as well")
        match method.attr:
            case "eval" | "train":
                is_plain = known(not self._sets_mode_itself, "a class of the file sets the mode in its own way")
                is_meant = self._is_run_behind(method, owner) & self._ends_training(method)
                return self._objects.module(owner) & is_plain & is_meant
            case "zero_grad":
                is_module = self._semantics.kind(owner).type is Type.MODULE
                return (self._objects.module(owner) if is_module else self._optimizer(owner)) & self._zeroes(method)
            case "step" if self._semantics.kind(owner).type is Type.SCHEDULER:
                return self._objects.scheduler(owner, _STEADY_SCHEDULERS) & self._only_steps(owner) & self._is_in_loop(method)
            case "step":
                return self._optimizer(owner) & self._steps(method) & self._may_step
            case "backward":
                return self._back_propagates(method)
            case "zero_":
                return self._fills(method, owner)
        return unknown(f"nothing shows that `{shortened(method)}` may be called here")

    def assigned(self, method: ast.Attribute) -> Fact:
        """Whether what ``method`` gives may take the place of the tensor that it is named of."""
        if expected_errors.is_awaited(self._tree, method):
            return unknown("the code may only ask whether there is such a method")
        match method:
            case ast.Attribute(value=ast.Name() as tensor, attr="detach"):
                return self._semantics.of(Replaceable).fact(method, tensor) & self._is_only_for_layers(method, tensor)
        return unknown("what is computed from it changes")

    # --- owners ------------------------------------------------------------------------------------------------------

    @cached_property
    def _named(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._tree.of_type(ast.Attribute):
            found.setdefault(node.attr, []).append(node)
        return found

    def _is_same(self, method: ast.Attribute, owner: ast.expr) -> bool:
        return self._semantics.of(Optimizers).same(method.value, owner)

    def _optimizer(self, owner: ast.expr) -> Fact:
        return self._objects.optimizer(owner) & self._only_steps(owner)

    def _only_steps(self, owner: ast.expr) -> Fact:
        """Whether an optimizer or scheduler is used for nothing but its methods and for schedulers: nobody else steps it."""
        match owner:
            case ast.Name():
                uses: list[ast.expr] = [use for each in self._semantics.bindings.reaching(owner) for use in each.uses]
            case ast.Attribute(attr=name):
                uses = [use for use in self._named[name] if isinstance(use.ctx, ast.Load)]
            case _:
                uses = [owner]
        is_sole = all(self._is_plain_use(use) for use in uses)
        return known(is_sole, f"`{shortened(owner)}` is handed on, and may be stepped elsewhere")

    def _is_plain_use(self, use: ast.expr) -> bool:
        match self._tree.parent(use):
            case ast.Attribute():
                return True
            case ast.Call(func=function, args=args):
                return use in args and self._semantics.qualified_name(function) in torch_api.SCHEDULERS
        return False

    # --- what stands around ------------------------------------------------------------------------------------------

    def _function(self, function: ast.Attribute, name: str) -> Fact:
        """A function of torch that takes nothing: where there is no GPU, most of them raise (ran)."""
        if name == "torch.cuda.empty_cache":
            return CERTAIN
        is_asked = any(
            isinstance(parent, ast.If) and self._asks_for_cuda(parent, function) for parent in self._tree.ancestors(function)
        )
        is_certain = name == "torch.cuda.synchronize" and is_asked
        return known(is_certain, f"`{shortened(function)}` does not work on every machine, or does more than was meant")

    def _asks_for_cuda(self, branch: ast.If, node: ast.expr) -> bool:
        test = branch.test
        is_question = isinstance(test, ast.Call) and self._semantics.qualified_name(test.func) == "torch.cuda.is_available"
        return is_question and any(self._tree.inside(node, statement) for statement in branch.body)

    def _is_run_behind(self, method: ast.Attribute, owner: ast.expr) -> Fact:
        """Whether a module is called once its mode is set."""
        calls = [call for call in self._tree.of_type(ast.Call) if dotted(call.func) == dotted(owner)]
        is_run = any(self._semantics.control_flow.may_follow(method, call) for call in calls)
        return known(is_run, f"nothing shows that `{shortened(owner)}` is run in the mode")

    def _ends_training(self, method: ast.Attribute) -> Fact:
        """Whether no training goes on in the mode of evaluation that ``method`` sets: none follows, or one sets its own."""
        calls = self._semantics.facts.calls
        if method.attr == "train" or calls.get("train"):
            return CERTAIN
        flow = self._semantics.control_flow
        here = flow.scope(method)
        follows = (flow.scope(each) is not here or flow.may_follow(method, each) for each in calls.get("backward", ()))
        return known(not any(follows), f"what is trained afterwards would be in the mode of `{shortened(method)}`")

    def _events(self, method: ast.Attribute) -> tuple[list[str], list[str]]:
        """What of a training step stands in the block of a statement, before it and behind; "?" is what can't be told."""
        statement = self._tree.statement(method)
        before: list[str] = []
        behind: list[str] = []
        found = before
        for each in self._tree.block(statement):
            if each is statement:
                found = behind
            else:
                found += self._events_in(each)
        return before, behind

    def _events_in(self, statement: ast.stmt) -> Iterator[str]:
        value = statement.value if isinstance(statement, ast.Expr) else None
        named = value.func if isinstance(value, ast.Call) else value
        for part in ast.walk(statement):
            if isinstance(part, ast.Attribute) and part.attr in _EVENTS:
                if self._semantics.kind(part.value).type is not Type.SCHEDULER:
                    yield part.attr if part is named else "?"

    def _zeroes(self, method: ast.Attribute) -> Fact:
        """Whether gradients are zeroed where a step begins, or where it has ended."""
        before, behind = self._events(method)
        begins = behind[:2] == ["backward", "step"] and not before
        ends = before[-2:] == ["backward", "step"] and not behind
        is_read = any(isinstance(each.ctx, ast.Load) for each in self._named.get("grad", ()))
        return known(begins or (ends and not is_read), "gradients may be wiped that are needed")

    def _steps(self, method: ast.Attribute) -> Fact:
        before, behind = self._events(method)
        is_step = before[-1:] == ["backward"] and not {"backward", "step", "?"} & {*before[:-1], *behind}
        return known(is_step, "nothing shows that a step is meant here")

    @property
    def _may_step(self) -> Fact:
        """Whether nothing in the file goes back through a graph of weights that a step has changed, or hears of a step."""
        words = self._semantics.words.all
        if "retain_graph" in words:
            return unknown("a graph that is kept may be gone through again behind the step")
        return known(words.isdisjoint(_STEP_HOOKS), "code of the file is called at each step")

    @cached_property
    def _sets_mode_itself(self) -> bool:
        """Whether a class of the file has a method for modes of its own."""
        facts = self._semantics.facts
        return any(facts.classes[each].methods.keys() & {"train", "eval"} for each in facts.classes)

    def _is_in_loop(self, method: ast.Attribute) -> Fact:
        return known(any(self._tree.loops(method)), "nothing shows that a step is meant here")

    # --- tensors -----------------------------------------------------------------------------------------------------

    def _back_propagates(self, method: ast.Attribute) -> Fact:
        before, behind = self._events(method)
        is_step = behind[:1] == ["step"] and not {"backward", "step", "?"} & {*before, *behind[1:]}
        doubt = "nothing shows that a backward pass is meant here, or that it is possible"
        if not is_step or not isinstance(method.value, ast.Name) or len(self._named["backward"]) > 1:
            return unknown(doubt)
        return self._semantics.of(Losses).may_be_propagated(method.value)

    def _fills(self, method: ast.Attribute, owner: ast.expr) -> Fact:
        """Whether a tensor may be changed in place: it has no graph and is no view, and nothing has been done with it."""
        own = self._semantics.of(OwnTensors).of(owner)
        if "inference_mode" in self._semantics.words.all:
            return unknown(f"`{shortened(owner)}` may have been made in inference mode, and refuse to be changed")
        if own is None:
            return self._semantics.of(Tensors).fact(owner) & unknown(f"`{shortened(owner)}` may not be changed in place")
        bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        uses = [use for each in bindings for use in each.uses if use is not owner]
        flow, stores = self._semantics.control_flow, [each.node for each in bindings]
        is_first = bool(bindings) and not any(flow.may_follow(use, method, stores) for use in uses)
        return known(own.bare and not own.view and is_first, f"`{shortened(owner)}` may not be changed in place")

    def _is_only_for_layers(self, method: ast.Attribute, tensor: ast.Name) -> Fact:
        """Whether what follows a detached tensor has a graph of its own: it goes into layers with weights."""
        uses = [use for each in self._semantics.bindings.reaching(tensor) for use in each.uses if use is not tensor]
        for use in uses:
            if self._semantics.control_flow.may_follow(method, use):
                call = self._tree.parent(use)
                if not (isinstance(call, ast.Call) and use in call.args and self._objects.layer(call.func).is_certain):
                    return unknown(f"`{shortened(use)}` may be back-propagated through")
        return CERTAIN
