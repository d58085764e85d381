"""Which code runs before anything is computed with a model: it makes, initialises or loads what the model starts with."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import NamedTuple

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function, Loop, position, walk
from torchlint.semantics.pending.constructing import Constructing
from torchlint.semantics.pending.fresh import Fresh
from torchlint.semantics.pending.new_parts import NewParts

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_INITIALISES = re.compile(
    r"(re)?init(s|ial|ials|iali[sz]\w*)?|xavier|kaiming|glorot|orthogonal|pretrained|pretrain|checkpoint|ckpt|transplant|"
    r"load(s|ed|ing)?|restore|convert|import|inflate|construct|build|make|create"
)
"""Words in the names of functions that set what a model starts with."""
_OTHER = frozenset(
    {
        *("hidden", "state", "states", "data", "batch", "batches", "input", "inputs", "image", "images", "noise", "loader"),
        *("step", "update", "train", "forward", "backward", "optimize", "optimise", "mask", "masks", "memory", "context"),
    }
)
"""Words in the names of functions that set something else, or set it between the steps of a training."""
_DRAWS = re.compile(
    r"_*(variance_scaling|(trunc|truncated|lecun|he|msra)_(normal|uniform|init)|zeros|ones|constant|normal|uniform)_?"
)
"""Functions that are named after the distribution which they draw a tensor's values from, or after its one value."""
_PARAMETERS = frozenset({"parameters", "parameter", "params", "param", "weights", "weight", "bias", "biases"})
_KEEPS = frozenset({"store", "backup", "shadow", "collect", "stash", "average"})
"""Words in the names of methods that keep the values of weights for a while."""
_REDRAWS = frozenset({"normal_", "uniform_"})
_FILLS = frozenset({"zero_", "fill_"})
_PREPARES = frozenset({"to", "cuda", "cpu", "eval", "train", "double", "float", "half", "apply", "load_state_dict"})
_ACTS = frozenset({"backward", "step", "zero_grad"})
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setUp", "setup"})
_LOADS = frozenset({"from_pretrained"})
_RESIZES = frozenset({"resize_token_embeddings", "resize_position_embeddings"})
_WALKS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers"})


_ITEMS = frozenset({"items", "values", "parameters", "named_parameters", "buffers", "named_buffers"})
_DEPTH = 3
"""So many names are followed to what they hold."""


class _Parts(NamedTuple):
    """What is looked for in some code: calls that back-propagate or step, gradients that are read, and calls by name.

    Beside them, the names of models that the code loads or gives room for more words, and of all that a call gives.
    """

    acts: list[ast.Call]
    gradients: list[ast.expr]
    calls: dict[str, list[ast.Call]]
    loaded: set[str]
    made: set[str]


class Beginnings:
    """Tells of changes of parameters whether they set what a model starts with.

    There is no graph then that a change could be hidden from. What tells so is where the change stands: in a constructor, in
    a function that is called after what it initialises or loads, in what only these call, or in front of the training loop.
    It is a judgement of what the code is there for, and not certain as `Unsaved` is.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._constructing = semantics.of(Constructing)
        self._fresh = semantics.of(Fresh)
        self._new = semantics.of(NewParts)
        self._judged: dict[Function, bool] = {}
        self._applied: dict[Function, bool] = {}
        self._parts: dict[ast.AST, _Parts] = {}
        self._redrawn: dict[ast.stmt, set[str]] = {}

    def sets(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether ``change`` sets what the model starts with that ``tensor`` is a part of."""
        if self._semantics.kind(tensor).grad is Grad.GRAPH and not self._is_own(tensor):
            return False  # the result of an operation; an attribute is what the constructor moved: `nn.Parameter(…).to(device)`
        if self._constructing.fact(tensor, change).is_certain or self._is_of_new_layer(tensor, change):
            return True
        if self.is_new_copy(tensor, change) or self._new.is_of_replaced(tensor, change):
            return True
        function = self._tree.function(change)
        if isinstance(function, ast.Lambda):
            return False
        if isinstance(function, FUNCTIONS) and (self._is_beginning(function) or self._is_applied_first(function, tensor)):
            return True
        if self._redraws(tensor, change) and not self._acts(function or self._tree.module):
            return True
        return self._is_before_training(tensor, change, function) or self._is_of_loaded(tensor, change, function)

    def _is_own(self, tensor: ast.expr) -> bool:
        return isinstance(tensor, ast.Attribute) and self._semantics.facts.self_class(tensor.value) is not None

    def _is_of_new_layer(self, tensor: ast.expr, change: ast.expr) -> bool:
        return isinstance(tensor, ast.Attribute) and self._fresh.fact(tensor, change).is_certain

    def is_new_copy(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether a tensor is a deep copy, or part of one, which nothing has used before but what leads to it."""
        if self._new.is_of_copy(tensor, change):
            return True
        around = list(self._tree.loops(change))
        value: ast.expr = tensor
        for _ in range(_DEPTH):
            bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
            if len(bindings) != 1 or bindings[0].form not in (Form.ASSIGNMENT, Form.LOOP) or bindings[0].value is None:
                return False
            start = position(self._tree.statement(change))
            if any(position(use) < start and use is not value for use in bindings[0].uses):
                return False
            if bindings[0].form is Form.LOOP:
                if not (around and isinstance(around[0], ast.For) and around[0].iter is bindings[0].value):
                    return False
                around = around[1:]
            if around != list(self._tree.loops(bindings[0].node)):
                return False  # another round may have used it
            value = _owner_of_items(self._zipped(bindings[0]))
            if isinstance(value, ast.Call):
                return self._semantics.qualified_name(value.func) == "copy.deepcopy"
        return False

    def _zipped(self, binding: Binding) -> ast.expr:
        """The value of a binding, or which one of those that a loop walks side by side: ``for p, q in zip(copied, others)``."""
        value = binding.value
        assert value is not None
        if binding.form is Form.LOOP and isinstance(value, ast.Call) and binding.path:
            place = binding.path[0]
            if self._semantics.qualified_name(value.func) == "builtins.zip" and place is not None and place < len(value.args):
                return value.args[place]
        return value

    # --- functions ---------------------------------------------------------------------------------------------------

    def _is_beginning(self, function: Function) -> bool:
        """Whether a function initialises or loads a model, as its name says, or is called by nothing but such functions."""
        if function not in self._judged:
            self._judged[function] = False  # while it is looked at, for those that call themselves
            is_beginning = self._is_called_so(function) or self._is_part_of_beginning(function)
            self._judged[function] = is_beginning and not self._acts(function)
        return self._judged[function]

    def _is_called_so(self, function: Function) -> bool:
        if function.name in _CONSTRUCTORS:
            return True
        owner = self._tree.parent(function)
        words = _words(function.name)
        if function.name == "__call__" and isinstance(owner, ast.ClassDef):
            words = _words(owner.name)
        if not words.isdisjoint(_OTHER):
            return False
        if "reset" in words:
            return not words.isdisjoint(_PARAMETERS)
        if _DRAWS.fullmatch(function.name):
            return True
        if "restore" in words and isinstance(owner, ast.ClassDef) and self._keeps_values(owner):
            words -= {"restore"}
        return any(_INITIALISES.fullmatch(word) for word in words)

    def _keeps_values(self, owner: ast.ClassDef) -> bool:
        """Whether a class has a method that keeps what another one puts back, as averages of weights do in each evaluation."""
        methods = self._semantics.facts.classes[owner].methods
        return not _KEEPS.isdisjoint(word for name in methods for word in _words(name))

    def _is_part_of_beginning(self, function: Function) -> bool:
        around = self._tree.function(function)
        if isinstance(around, FUNCTIONS):
            return self._is_beginning(around)
        callers = [self._tree.function(call) for call in self._semantics.facts.calls.get(function.name, ())]
        if not all(isinstance(each, FUNCTIONS) and self._is_beginning(each) for each in callers):
            return False
        elsewhere = self._callers_elsewhere(function)
        return bool(callers or elsewhere) and all(name.rpartition(".")[2] in _CONSTRUCTORS for name in elsewhere)

    def _callers_elsewhere(self, function: Function) -> tuple[str, ...]:
        """The functions of other files that call a function of this one, or a method of one of its classes."""
        callers = self._semantics.elsewhere.callers
        return callers.surroundings(self._semantics.facts.full_name(function)) if callers is not None else ()

    def _is_applied_first(self, function: Function, tensor: ast.expr) -> bool:
        """Whether a function is only applied to models that were just made, and changes the layer that it is given.

        ``net = Net()``, ``net.apply(f)``: so a test gives layers other values than they start with.
        """
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if _root(tensor) not in parameters[:1] or self._acts(function):
            return False
        if function not in self._applied:
            bindings = self._semantics.bindings.lookup(function.name, self._semantics.bindings.scope_of(function))
            uses = [use for each in bindings for use in each.uses] if len(bindings) == 1 else []
            self._applied[function] = bool(uses) and all(map(self._is_applied_to_new, uses))
        return self._applied[function]

    def _is_applied_to_new(self, use: ast.Name) -> bool:
        """Whether a function's name is given to the ``apply`` of what the code around has made, and not used otherwise yet."""
        match call := self._tree.parent(use):
            case ast.Call(func=ast.Attribute(attr="apply", value=ast.Name() as model), args=[ast.Name() as given]):
                pass
            case _:
                return False
        bindings, scope = self._semantics.bindings.reaching(model), self._semantics.bindings.scope_of(call)
        if given is not use or not bindings:
            return False
        loops = list(self._tree.loops(call))
        for each in bindings:
            is_made = each.form is Form.ASSIGNMENT and not each.path and isinstance(each.value, ast.Call)
            if not is_made or each.scope is not scope or list(self._tree.loops(each.node)) != loops:
                return False
            others = [other for other in each.uses if other is not model and not self._is_prepared(other)]
            if any(self._semantics.bindings.scope_of(other) is not scope for other in others):
                return False
            if self._semantics.control_flow.may_follow_any(others, call, avoiding=[self._tree.statement(each.node)]):
                return False
        return True

    def _is_prepared(self, use: ast.Name) -> bool:
        """Whether a model is moved, or set to a mode, and not run."""
        owner = self._tree.parent(use)
        call = self._tree.parent(owner) if isinstance(owner, ast.Attribute) and owner.attr in _PREPARES else None
        return isinstance(call, ast.Call) and call.func is owner

    def _acts(self, scope: ast.AST) -> list[ast.Call]:
        """The calls in some code, but for what it only defines, that back-propagate or step."""
        return self._parts_of(scope).acts

    def _parts_of(self, scope: ast.AST) -> _Parts:
        if scope not in self._parts:
            found = self._parts[scope] = _Parts([], [], defaultdict(list), set(), set())
            for part in walk(scope):
                if isinstance(part, ast.Attribute) and part.attr == "grad":
                    found.gradients.append(part)
                elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Call):
                    names = {target.id for target in part.targets if isinstance(target, ast.Name)}
                    found.made.update(names)
                    found.loaded.update(names if _method(part.value) in _LOADS else ())
                elif isinstance(part, ast.Call):
                    if _method(part) in _RESIZES:
                        found.loaded.add(_root(part.func))
                    if _method(part) in _ACTS:
                        found.acts.append(part)
                    if isinstance(part.func, ast.Name):
                        found.calls[part.func.id].append(part)
        return self._parts[scope]

    # --- by the change itself, and where it stands -------------------------------------------------------------------

    def _redraws(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether the weight or bias of a layer is given random values, or is set beside a weight that is."""
        if not (isinstance(tensor, ast.Attribute) and tensor.attr in ("weight", "bias")):
            return False
        if not isinstance(change, ast.Call):
            return isinstance(change, ast.Attribute) and change.value is tensor and self._is_beside_redrawn(tensor, change)
        return _method(change) in _REDRAWS or (_method(change) in _FILLS and self._is_beside_redrawn(tensor, change))

    def _is_beside_redrawn(self, tensor: ast.Attribute, change: ast.expr) -> bool:
        """Whether a statement beside a change draws the values of the weight of the same layer."""
        return ast.dump(tensor.value) in self._redrawn_in(self._tree.block(self._tree.statement(change)))

    def _redrawn_in(self, block: list[ast.stmt]) -> set[str]:
        """The layers whose weights some statements draw."""
        if block[0] not in self._redrawn:
            self._redrawn[block[0]] = {ast.dump(layer) for layer in map(self._redrawn_by, block) if layer is not None}
        return self._redrawn[block[0]]

    def _redrawn_by(self, statement: ast.stmt) -> ast.expr | None:
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(
                        attr=method, value=ast.Attribute(attr="data", value=ast.Attribute(attr="weight", value=layer))
                    )
                )
            ) if method in _REDRAWS:
                return layer
            case ast.Expr(value=ast.Call(func=function, args=[ast.Attribute() as weight, *_])):
                weight = weight.value if weight.attr == "data" and isinstance(weight.value, ast.Attribute) else weight
                name = self._semantics.qualified_name(function) or ""
                if weight.attr == "weight" and name.startswith("torch.nn.init."):
                    return weight.value
        return None

    def _is_before_training(self, tensor: ast.expr, change: ast.expr, function: Function | None) -> bool:
        """Whether a program changes something in front of its training loop, and runs no forward of it before.

        A program is a file, its function `main`, or a function that has made the model itself.
        """
        scope = function or self._tree.module
        makings = self._makings(tensor, list(self._tree.loops(change)))
        renewing = {loop for making in makings for loop in self._tree.loops(making)}
        """Loops in whose rounds the model is made anew."""
        around = [loop for loop in self._tree.loops(change) if loop not in renewing]
        if function is not None and function.name != "main" and not self._is_made_by(function, tensor, around):
            return False
        acts = self._acts(scope)
        loops = [[loop for loop in self._tree.loops(act) if loop not in renewing] for act in acts]
        if not acts and not self._is_part_of_model(tensor, around):
            return False
        if not all(each and set(around).isdisjoint(each) for each in loops):
            return False
        uses = self._uses(tensor, around, scope)
        return not self._semantics.control_flow.may_follow_any([*acts, *uses], change, avoiding=makings)

    def _makings(self, tensor: ast.expr, loops: list[Loop]) -> list[ast.stmt]:
        """The statements that make the model in each round of a loop around, if no other has made it."""
        named = [_named(each) for each in (tensor, *(loop.iter for loop in loops if isinstance(loop, ast.For)))]
        found: list[ast.stmt] = []
        for name in named:
            bindings = self._semantics.bindings.reaching(name) if name is not None else ()
            made = [each.node for each in bindings if each.form is Form.ASSIGNMENT and isinstance(each.value, ast.Call)]
            if made and len(made) == len(bindings) and all(set(self._tree.loops(each)) & set(loops) for each in made):
                found += [self._tree.statement(each) for each in made]
        return found

    def _is_of_loaded(self, tensor: ast.expr, change: ast.expr, function: Function | None) -> bool:
        """Whether a function that trains nothing has loaded the model or given it room, and runs no forward first."""
        scope = function or self._tree.module
        parts = self._parts_of(scope)
        if isinstance(tensor, ast.Name) or _root(tensor) not in parts.loaded or parts.acts or parts.gradients:
            return False
        return not self._semantics.control_flow.may_follow_any(parts.calls.get(_root(tensor), []), change)

    def _is_made_by(self, function: Function, tensor: ast.expr, loops: list[Loop]) -> bool:
        """Whether what a tensor is an attribute of, or what its loop walks, is something that a function has called for."""
        roots = {_root(loop.iter) for loop in loops if isinstance(loop, ast.For) and _walks_model(loop.iter)}
        if isinstance(tensor, ast.Attribute):
            roots.add(_root(tensor))
        return not roots.isdisjoint(self._parts_of(function).made)

    @staticmethod
    def _is_part_of_model(tensor: ast.expr, loops: list[Loop]) -> bool:
        """Whether a tensor is an attribute, or what loops over the parts of a model give, and stands in no other loop."""
        is_walked = all(isinstance(loop, ast.For) and _walks_model(loop.iter) for loop in loops)
        return is_walked and (bool(loops) or isinstance(tensor, ast.Attribute))

    def _uses(self, tensor: ast.expr, loops: list[Loop], scope: ast.AST) -> list[ast.expr]:
        """The gradients that are read in some code, and the calls of that which ``tensor`` is a part of."""
        roots = {_root(each) for each in [tensor, *(loop.iter for loop in loops if isinstance(loop, ast.For))]}
        parts = self._parts_of(scope)
        return [*parts.gradients, *(call for root in roots for call in parts.calls.get(root, ()))]


def _root(node: ast.expr) -> str:
    """The name that an expression starts with: ``model`` of ``model.layers[0].parameters()``."""
    named = _named(node)
    return named.id if named is not None else ""


def _named(node: ast.expr) -> ast.Name | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node if isinstance(node, ast.Name) else None


def _walks_model(iterable: ast.expr) -> bool:
    return isinstance(iterable, ast.Call) and _method(iterable) in _WALKS


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _owner_of_items(value: ast.expr) -> ast.expr:
    """What all items of a value are asked of: ``state`` in ``state.items()``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _ITEMS:
        value = value.func.value
    return value
