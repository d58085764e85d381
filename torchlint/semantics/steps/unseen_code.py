"""What code that the file does not show may do to gradients: wipe them, add to them, keep an optimizer for later."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backwards import BACKWARDS
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import Function, dotted, given_to, last_name
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.kinds.results import GRAD_SCALERS
from torchlint.semantics.steps.rounds import LoopRound
from torchlint.semantics.training.optimizers import Optimizers, is_preparation, overlap, root_of, stepped

_WIPING_NAME = re.compile(
    r"\A(?:(?>.*?(?:zero|clear|reset|clean|wipe|null|empty|free|drop)).*grad|(?>.*?grad).*(?:zero|clear|reset|none)|.*foreach_zero)",
    re.IGNORECASE,
)
_OVERWRITING = frozenset({"zero_", "fill_", "mul_", "copy_", "set_"})
_HARMLESS_WITH_OPTIMIZER = re.compile(
    r"(^|_)lr|lr$|learning_rate|sched|warm_?up|anneal|clip|log|print|save|checkpoint|unscale|scale_loss|master_params|state|norm"
    r"|context$|autocast|summary|watch|momentum|load|restore|resume|format|isinstance|^(len|id|type|repr|str|getattr|hasattr|list|enumerate|zip|super)$",
    re.I,
)
_CALLBACK = re.compile(
    r"callback|hook|(^|_)on_(batch|step|epoch|train|iter)|before_|after_|closure|event|dispatch|emit|fire", re.I
)
_COMPUTES = re.compile(r"^(model|net|network|criterion|forward|predict|(.*_)?loss(_fn|_fct|_function)?|device|metrics?)$", re.I)
_ACTS_ON_MODEL = re.compile(
    r"^(?!log|print|save|plot|write|check|report|display).*(train_|_train|step|reset|zero|clear|update|prepare|optimi[sz]e)",
    re.I,
)
_KEEPS_COUNT = re.compile(
    r"scaler|(^|_)ema($|_)|meter|(^|_)p?bar$|progress|tracker|metric|evaluators?$|stats|loss(es)?$|acc$|top\d$|stop", re.I
)
"""What is called that is told how the training goes, or what it made of the weights."""
_HARMLESS_METHODS = frozenset(
    {"append", "add_scalar", "info", "debug", "warning", "format", "item", "update", "write", "set_postfix", "set_description"}
    | {"log", "print", "flush", "time", "get", "items", "keys", "values", "join", "size", "unscale_", "get_scale", "add"}
)


_WITHOUT_MODELS = frozenset(
    {Type.TENSOR, Type.PACKED, Type.ARRAY, Type.NUMBER, Type.STRING, Type.NONE, Type.SCHEDULER, Type.LOADER}
)
"""What leads to no model."""
_OF_MODELS = re.compile(r"param|model|net|optim|module|layer|train", re.IGNORECASE)


class UnseenCode:
    """Tells what calls of other files' functions, hooks and callbacks may do, as far as that can be told."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._names = semantics.names
        self._bindings = semantics.bindings
        self._facts = semantics.facts
        self._inference = semantics.inference
        self._optimizers = semantics.of(Optimizers)
        self._elsewhere = semantics.elsewhere

    def may_wipe(self, round_: LoopRound, optimizer: ast.expr, but_for: Collection[ast.AST] = ()) -> bool:
        """Whether anything in a loop may wipe the gradients of an optimizer, as far as that can be told; but for some nodes."""
        nodes = (node for node in round_.nodes if node not in but_for)
        return any(self._may_wipe(node, optimizer) for node in nodes) or self.is_handed_out(optimizer)

    def _may_wipe(self, node: ast.AST, optimizer: ast.expr) -> bool:
        match node:
            case ast.Attribute(attr="zero_grad", value=other):
                return not self._optimizers.apart(optimizer, other)
            case ast.Attribute(attr="grad" | "_grad", ctx=ast.Store() | ast.Del()):
                return True
            case ast.Call(func=ast.Name() as function) if self._is_bound_wiping(function):
                return True
            case ast.Attribute(attr="data", value=ast.Attribute(attr="grad"), ctx=ast.Store()):
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if _WIPING_NAME.search(name):
                return True
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in _OVERWRITING:
                return self._reads_gradients and _may_be_gradient(owner)
            case ast.keyword(arg="zero_grad") | ast.Constant(value="grad" | "zero_grad"):
                return True
            case ast.AugAssign(target=ast.Attribute(attr="grad")):
                return True
            case ast.Call():
                return self._unknown_may_wipe(node, optimizer) or self._may_zero_itself(node)
        return False

    def _is_bound_wiping(self, function: ast.Name) -> bool:
        """Whether what is called is the method of an optimizer under a name: ``reset = optimizer.zero_grad``."""
        return any(
            isinstance(binding.value, ast.Attribute) and binding.value.attr == "zero_grad"
            for binding in self._bindings.reaching(function)
        )

    def _may_zero_itself(self, call: ast.Call) -> bool:
        """Whether what is called may be a model that zeroes its own gradients whenever it is run."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        kind = self._inference.kind(call.func)
        if isinstance(kind.definition, ast.ClassDef):
            return kind.definition in self._zeroing_themselves
        if kind.known and (kind.type is not Type.MODULE or (kind.name or "").startswith("torch.")):
            return False
        return self._elsewhere.speaks_of("own gradients") is True

    @cached_property
    def _zeroing_themselves(self) -> set[ast.AST]:
        """The file's classes with a method that zeroes the gradients of the object's own parameters."""
        calls = self._facts.calls.get("zero_grad", ())
        owners = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
        return {found for owner in owners if (found := self._facts.self_class(owner)) is not None}

    @cached_property
    def _reads_gradients(self) -> bool:
        return any(node.attr == "grad" for node in self._tree.of_type(ast.Attribute))

    def _unknown_may_wipe(self, call: ast.Call, optimizer: ast.expr) -> bool:
        """Whether a call of what the file does not show may wipe gradients: given the optimizer, or known to hold it."""
        name = last_name(call.func)
        called = self._inference.call_graph.called(call)
        if _CALLBACK.search(dotted(call.func) or name) and (called is None or _is_left_to_others(called)):
            return True
        if called is not None or stepped(call) is not None or name in BACKWARDS:
            return False
        if (self._names.qualified(call.func) or "").startswith(("torch.", "numpy.", "math.", "time.")):
            return False
        if (wipes := self.wipes_elsewhere(call)) is not None:
            return wipes
        root = root_of(optimizer)
        if root is not optimizer and isinstance(call.func, ast.Attribute) and ast.dump(call.func.value) == ast.dump(root):
            return self._is_hidden_method(call.func, root) and not _HARMLESS_WITH_OPTIMIZER.search(name)
        return self._acts_on_trained(call, optimizer)

    def wipes_elsewhere(self, call: ast.Call) -> bool | None:
        """Whether a function of another file wipes gradients of what it is handed; `None` where that is not known."""
        if self._elsewhere.function(call.func) is None:
            return None
        given = given_to(call)
        acts = [self._elsewhere.acts(call, each) for each in given if self._may_lead_to_model(each)]
        if any(each is None for each in acts):
            return None
        self._elsewhere.has_said = True
        return any(act.what == "zero" for each in acts if each is not None for act in each)

    def _is_hidden_method(self, function: ast.Attribute, root: ast.expr) -> bool:
        """Whether a method of the object that holds the optimizer may be one of a base class that the file does not show."""
        definition = self._inference.kind(root).definition
        if not isinstance(definition, ast.ClassDef):
            return True
        if any(slot.stores or slot.class_values for slot in self._facts.slots(definition, function.attr)):
            return False
        return self._inference.kind(function).type is not Type.MODULE and not _COMPUTES.search(function.attr)

    def is_handed_out(self, optimizer: ast.expr) -> bool:
        """Whether code that the file does not show is given the optimizer, and might wrap it or act on it later."""
        texts = {dotted(optimizer), dotted(root_of(optimizer))}
        return any(self._may_keep(call) for text in texts if text is not None for call in self._handed.get(text, ()))

    @cached_property
    def _handed(self) -> dict[str, list[ast.Call]]:
        """The calls that are given each variable or attribute, itself or in a list, tuple or dict."""
        found: dict[str, list[ast.Call]] = {}
        for calls in self._facts.calls.values():
            for call in calls:
                for argument in given_to(call):
                    for text in _given(argument):
                        found.setdefault(text, []).append(call)
        return found

    def _may_keep(self, call: ast.Call) -> bool:
        """Whether a call is of code that is not shown, and may do more with an optimizer than look at it."""
        if self._inference.call_graph.called(call) is not None or stepped(call) is not None or is_preparation(call):
            return False
        if _HARMLESS_WITH_OPTIMIZER.search(last_name(call.func)) or self.wipes_elsewhere(call) is False:
            return False
        if (self._names.qualified(call.func) or "").startswith("torch."):
            return False
        kind = self._inference.kind(call.func)
        return not isinstance(kind.definition, ast.ClassDef)

    def _acts_on_trained(self, call: ast.Call, optimizer: ast.expr) -> bool:
        """Whether what is called sounds as if it would do a part of a training step on the model."""
        if not _ACTS_ON_MODEL.search(last_name(call.func)):
            return False
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        if owner is not None and _KEEPS_COUNT.search(last_name(owner)):
            return False
        touched: list[ast.expr] = given_to(call)
        if isinstance(call.func, ast.Attribute):
            touched.append(call.func.value)
        trained = self._optimizers.trained(optimizer)
        if trained is None:
            return any(self._may_lead_to_model(part) for part in touched)
        return any(overlap(dotted(part) or "", owner) for part in touched for owner in trained)

    def _may_lead_to_model(self, node: ast.expr, depth: int = 3) -> bool:
        """Whether a model or an optimizer may be reached from a value: not from numbers, tensors, or what was made of such."""
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.BinOp():
                return False
            case _ if self._inference.kind(node).type in _WITHOUT_MODELS:
                return False
            case ast.Call(func=function, args=args, keywords=keywords):
                parts = [*args, *(word.value for word in keywords)]
                if isinstance(function, ast.Attribute):
                    parts.append(function.value)
                return depth == 0 or any(self._may_lead_to_model(part, depth - 1) for part in parts)
            case ast.Name():
                bindings = self._bindings.reaching(node)
                return depth == 0 or not bindings or any(self._is_bound_to_model(binding, depth) for binding in bindings)
        return True

    def _is_bound_to_model(self, binding: Binding, depth: int) -> bool:
        match binding.form:
            case Form.IMPORT:
                return False
            case Form.LOOP:
                return binding.value is None or _OF_MODELS.search(ast.unparse(binding.value)) is not None
            case Form.ASSIGNMENT if binding.value is not None:
                return self._may_lead_to_model(binding.value, depth - 1)
        return True

    def may_back_propagate(self, call: ast.Call) -> bool:
        """Whether a call may add to gradients: any that is not known to do something else."""
        name = last_name(call.func)
        if name in BACKWARDS:
            return True
        qualified = self._names.qualified(call.func) or ""
        if qualified.startswith(("torch.", "numpy.", "math.", "time.", "logging.")):
            return qualified.startswith("torch.autograd")
        if _is_builtin(qualified):
            return False
        if not isinstance(call.func, ast.Attribute):
            return self._inference.kind(call.func).type is not Type.MODULE
        kind = self._inference.kind(call.func.value)
        if name in ("zero_grad", "step", "state_dict", "clip_grad_norm_") and not call.args:
            return False
        if kind.known and kind.type not in (Type.INSTANCE, Type.MODULE, Type.CLASS, Type.FUNCTION):
            return False
        return name not in _HARMLESS_METHODS and kind.name not in GRAD_SCALERS


def _is_left_to_others(function: Function) -> bool:
    """Whether a function does nothing that a class derived from its own, or a program that replaces it, would not do itself."""
    return all(isinstance(each, (ast.Pass, ast.Expr, ast.Raise, ast.Return)) for each in function.body)


def _may_be_gradient(node: ast.expr) -> bool:
    """Whether a value may be a gradient: not what a function makes."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            return True
        node = node.value
    return isinstance(node, ast.Name)


def _given(argument: ast.expr) -> Iterator[str]:
    """The variables and attributes that an argument is, or is a container of."""
    match argument:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _given(part)
        case ast.Starred(value=part):
            yield from _given(part)
        case ast.Name() | ast.Attribute() if (text := dotted(argument)) is not None:
            yield text


def _is_builtin(qualified: str) -> bool:
    return qualified.startswith("builtins.") and hasattr(builtins, qualified.removeprefix("builtins."))
