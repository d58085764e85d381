"""Whether the graph of a value is made within one round of a loop, and used by nothing else there.

Autograd frees a graph when it is back-propagated. What must not be freed is a part of it that is used again: by another
backward of the same round, by a later round, or by code that gets hold of a value. `RoundGraphs` says of a value that all
this is ruled out, and only if the file shows it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.autograd.backwards import Backwards
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, Loop, given_to, last_name
from torchlint.semantics.graphs.earlier_graphs import EarlierGraphs
from torchlint.semantics.graphs.likely.parameterless import ParameterlessModules
from torchlint.semantics.graphs.stateless import PLAIN, is_pure, is_stateless
from torchlint.semantics.kinds.kind import Grad, Kind, Type
from torchlint.semantics.kinds.results import LOSS_MODULES

_GRAPHLESS = frozenset(
    {Type.NUMBER, Type.STRING, Type.NONE, Type.ARRAY, Type.LOADER, Type.OPTIMIZER, Type.SCHEDULER, Type.CLASS}
)
_CUTTING = frozenset(
    {"item", "detach", "data", "tolist", "numpy", "shape", "size", "dim", "ndim", "numel", "dtype", "device", "grad", "argmax"}
    | {"requires_grad", "is_cuda", "grad_fn", "eq", "gt", "lt", "ge", "le", "isnan", "isfinite"}
)
_REPORTING = frozenset(
    {"print", "float", "int", "len", "str", "repr", "isinstance", "format", "info", "debug", "warning", "set_postfix"}
    | {"set_description", "write", "isnan", "isfinite", "isinf", "argmax"}
    | {"add_scalar", "add_scalars", "log", "log_metrics"}
)
_FILLING = frozenset({"append", "extend", "insert", "update", "add", "put", "setdefault", "appendleft", "copy_"})
_LOADERS = re.compile(r"loader|dataset|batches", re.IGNORECASE)
_MOVES = frozenset({"to", "cuda", "cpu", "float", "double", "half", "long", "int", "bool"})
"""Methods that move or cast: what they give has the graph of what they are called on, whatever that is."""
_LOSSES = re.compile(r"loss|criterion", re.IGNORECASE)
_CRITERIA = re.compile(r"^(criterion|loss_?(fn|func|function))$", re.IGNORECASE)


class RoundGraphs:
    """Follows values through the rounds of loops."""

    def __init__(self, semantics: Semantics) -> None:
        self._backwards = semantics.of(Backwards)
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._names = semantics.names
        self._facts = semantics.facts
        self._inference = semantics.inference
        self._no_grad = semantics.no_grad
        self._flow = semantics.control_flow
        self._elsewhere = semantics.elsewhere
        self._earlier = semantics.of(EarlierGraphs)
        self._parameterless = semantics.of(ParameterlessModules)
        self._is_begun = False
        """Whether what is looked at has met a parameter, or a module that may have some."""
        self._closed: dict[Function, tuple[bool, bool]] = {}

    def used_up(self, backward: ast.Call) -> ast.expr | None:
        """The value that ``backward``, a call in a loop, propagates, if no round needs its graph again; ``None`` otherwise."""
        loop = next(self._tree.loops(backward), None)
        value = self._backwards.propagated_by(backward) if loop is not None else None
        return value if loop is not None and value is not None and self.is_used_up(value, backward, loop) else None

    def is_used_up(self, loss: ast.expr, backward: ast.Call, loop: Loop) -> bool:
        """Whether each round of ``loop`` makes the whole graph of ``loss`` anew, and only ``backward`` goes through it."""
        made: set[Binding] = set()
        self._is_begun = False
        if not self._is_made_in_round(loss, loop, made):
            return False
        if not self._is_begun:
            return False  # what is back-propagated has a graph, and nothing shows where that begins: in what seems to be data
        pending = list(made)
        while pending:
            for use in pending.pop().uses:
                targets = self._flows_to(use, backward)
                if targets is None:
                    return False
                pending.extend(target for target in targets if target not in made)
                made.update(targets)
        return True

    # --- where it comes from -----------------------------------------------------------------------------------------

    def _is_made_in_round(self, node: ast.expr, loop: Loop, made: set[Binding]) -> bool:
        """Whether an expression hangs on no graph from before the round; collects the variables on the way."""
        kind = self._inference.kind(node)
        if self._is_graphless(kind) and not isinstance(node, ast.Call) and not (kind.loose and isinstance(node, ast.Name)):
            self._is_begun = self._is_begun or kind.grad is Grad.LEAF
            is_computed = kind.is_tensor and kind.grad is Grad.NONE and isinstance(node, ast.Name)
            return not self._earlier.may_be_filled(node) and not (is_computed and self._earlier.may_join(node))
        match node:
            case ast.Name() if kind.type is Type.MODULE:
                return self._begins(node, kind)
            case ast.Name():
                bindings = self._bindings.reaching(node)
                if self._may_be_of_earlier_round(node, bindings, loop):
                    return all(self._is_graphless(self._inference.binding_kind(binding)) for binding in bindings)
                return bool(bindings) and all(self._is_bound_in_round(binding, node, loop, made) for binding in bindings)
            case ast.Call():
                operands = given_to(node)
                if self._may_fill(node, operands, loop):
                    return False
                if isinstance(node.func, ast.Attribute) and self._is_of_tensor(node.func):
                    operands.append(node.func.value)
                return self._is_pure(node, begins=True) and all(self._is_made_in_round(part, loop, made) for part in operands)
            case ast.Attribute(value=value, attr=name):
                return name in _CUTTING or (self._inference.kind(value).is_tensor and self._is_made_in_round(value, loop, made))
            case ast.Subscript(value=value):
                return self._is_made_in_round(value, loop, made)
            case ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.Tuple() | ast.List() | ast.Compare() | ast.Starred():
                parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                return all(self._is_made_in_round(part, loop, made) for part in parts)
            case ast.Constant() | ast.Slice():
                return True
        return False

    def _may_be_of_earlier_round(self, use: ast.Name, bindings: tuple[Binding, ...], loop: Loop) -> bool:
        """Whether a round may get to a use without giving the variable a value: ``if step % k == 0: penalty = …``."""
        start = loop.test if isinstance(loop, ast.While) else loop.target
        own = [each.node for each in bindings if self._tree.inside(each.node, loop) and not self._tree.inside(each.node, start)]
        return bool(own) and self._flow.may_follow(start, use, avoiding=own)

    def _is_bound_in_round(self, binding: Binding, use: ast.AST, loop: Loop, made: set[Binding]) -> bool:
        """Whether a variable got its value in the same round, from what was made there."""
        if binding.form is Form.LOOP and binding.node in ast.walk(
            loop.target if not isinstance(loop, ast.While) else loop.test
        ):
            return self._gives_data(binding)
        if binding.form is Form.AUGMENTED and self._no_grad.covers(binding.node):
            others = [before for before in binding.before if before is not binding]  # changed in place, and not recorded
            return all(self._is_graphless(self._inference.binding_kind(before)) for before in others)
        carried = _position(self._tree.statement(binding.node)) >= _position(self._tree.statement(use)) or (
            binding.form is Form.AUGMENTED and not all(self._tree.inside(before.node, loop) for before in binding.before)
        )
        if carried or not self._tree.inside(binding.node, loop):
            return self._is_graphless(self._inference.binding_kind(binding))
        if binding.value is None or binding.form not in (Form.ASSIGNMENT, Form.AUGMENTED):
            return self._is_graphless(self._inference.binding_kind(binding))
        if binding in made:
            return True
        together = list(self._bound_with(binding))
        if None in together:
            return False  # an attribute gets it, or an item
        made.update(each for each in together if each is not None)
        if not all(self._is_bound_in_round(before, binding.node, loop, made) for before in binding.before):
            return False
        return self._is_made_in_round(binding.value, loop, made)

    def _bound_with(self, binding: Binding) -> Iterator[Binding | None]:
        """The variables that a statement gives a value, or parts of it, which may share its graph; ``None`` for others."""
        yield binding
        statement = self._tree.statement(binding.node)
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for part in ast.walk(target):
                    if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
                        yield self._bindings.of(part) if isinstance(part, ast.Name) else None

    def _gives_data(self, binding: Binding) -> bool:
        """Whether a loop runs over data: a loader, numbers, tensors without a graph."""
        iterable = binding.value
        while isinstance(iterable, ast.Call) and iterable.args and last_name(iterable.func) in ("enumerate", "tqdm", "iter"):
            iterable = iterable.args[0]
        if iterable is None or self._earlier.loads_graphs(iterable):
            return False
        if isinstance(iterable, (ast.Name, ast.Attribute)) and not self._inference.kind(iterable).known:
            return _LOADERS.search(last_name(iterable)) is not None
        kind = self._inference.binding_kind(binding)
        return self._is_graphless(kind) or self._inference.kind(iterable).type is Type.LOADER

    def _is_graphless(self, kind: Kind) -> bool:
        """Whether a value has no graph behind it that a backward could free."""
        if kind.is_tensor:
            return kind.grad in (Grad.NONE, Grad.LEAF)
        if kind.type in (Type.SEQUENCE, Type.MAPPING):
            return bool(kind.parts) and all(map(self._is_graphless, kind.parts))
        return kind.type in _GRAPHLESS

    # --- what computes it --------------------------------------------------------------------------------------------

    def _may_fill(self, call: ast.Call, operands: list[ast.expr], loop: Loop) -> bool:
        """Whether a function is called with a list or a dict of tensors from before the round, which it may add to."""
        if self._facts.definition(call.func) is None and self._elsewhere.function(call.func) is None:
            return False
        for operand in (each for each in operands if isinstance(each, (ast.Name, ast.Attribute))):
            kind = self._inference.kind(operand)
            if kind.type in (Type.SEQUENCE, Type.MAPPING) and any(part.is_tensor for part in kind.parts):
                bindings = self._bindings.reaching(operand) if isinstance(operand, ast.Name) else ()
                if not bindings or not all(self._tree.inside(binding.node, loop) for binding in bindings):
                    return True
        return False

    def _is_pure(self, call: ast.Call, *, begins: bool = False) -> bool:
        """Whether the graph of a call's result is made of its arguments and of parameters only."""
        name = self._names.qualified(call.func) or ""
        if name.startswith("torch.autograd.") and name != "torch.autograd.Variable":
            return False
        if name.startswith("torch.") and (name in torch_api.FUNCTIONS or name.startswith("torch.nn.functional.")):
            return True
        if name.startswith(("numpy.", "math.")) or name in ("builtins.sum", "builtins.len", "builtins.float", "builtins.range"):
            return True
        kind, module = self._inference.kind(call.func), call.func
        if isinstance(module, ast.Attribute) and module.attr == "forward":
            module = module.value
        if (called := self._inference.kind(module)).type is Type.MODULE:
            return self._is_stateless(called) and (not begins or self._begins(module, called))
        if isinstance(call.func, ast.Attribute) and self._is_of_tensor(call.func):
            return True
        if isinstance(call.func, ast.Attribute) and self._inference.kind(call.func.value).type is Type.MODULE:
            return False
        definition = self._facts.definition(call.func)
        if isinstance(definition, FUNCTIONS):
            return self._is_closed(definition)
        if (elsewhere := self._elsewhere.function(call.func)) is not None:
            return is_pure(elsewhere)
        return not kind.known and isinstance(call.func, ast.Name) and _CRITERIA.match(call.func.id) is not None

    def _begins(self, module: ast.expr, kind: Kind) -> bool:
        """Whether a module keeps nothing, of its own or of what it is made with; notes whether it may have parameters."""
        is_loss = kind.name in LOSS_MODULES or _LOSSES.search(kind.name) is not None
        self._is_begun = self._is_begun or not (is_loss or self._parameterless.are(module))
        return self._is_stateless(kind) and not self._earlier.may_be_given(kind)

    def _is_of_tensor(self, method: ast.Attribute) -> bool:
        """Whether a method is a tensor's, or moves or casts a part of a batch, whose kind is not known."""
        kind = self._inference.kind(method.value)
        return kind.is_tensor or (method.attr in _MOVES and isinstance(method.value, ast.Name) and not kind.known)

    def _is_stateless(self, module: Kind) -> bool:
        """Whether a module surely keeps nothing from one forward to the next."""
        definition = module.definition
        if isinstance(definition, ast.ClassDef):
            return all(self._keeps_nothing(definition, method) for method in self._methods(definition))
        if module.classes_elsewhere:
            return all(is_stateless(each, self._elsewhere.lookup) for each in module.classes_elsewhere)
        if module.name in LOSS_MODULES or module.name.startswith("torchvision.models."):
            return True
        if module.name in torch_api.CONTAINER_MODULES:
            return self._containers_are_stateless
        return module.name in torch_api.MODULES and module.name != "torch.nn.Module"

    @cached_property
    def _containers_are_stateless(self) -> bool:
        """Whether all that the file's containers of modules are given is stateless, as far as it is written there."""
        for name in torch_api.CONTAINER_MODULES:
            for call in self._facts.calls.get(name.rpartition(".")[2], ()):
                for part in call.args:
                    kind = self._inference.kind(part)
                    plain = kind.type is Type.MODULE and kind.name not in torch_api.CONTAINER_MODULES
                    nested = isinstance(part, ast.Call) and kind.name in torch_api.CONTAINER_MODULES
                    if not nested and not (plain and self._is_stateless(kind)):
                        return False
        return True

    def _methods(self, definition: ast.ClassDef) -> Iterator[Function]:
        for base in self._facts.bases(definition):
            yield from self._facts.classes[base].methods.values()

    def _keeps_nothing(self, definition: ast.ClassDef, method: Function) -> bool:
        """Whether a method stores nothing but in the constructor, and calls no submodule that might."""
        if method.name != "__init__" and any(self._tree.function(store) is method for store in self._stores(definition)):
            return False
        if not self._facts.derives_from(definition, "torch.nn."):
            return False
        if method.name != "__init__":
            return True
        own = [store for store in self._stores(definition) if self._tree.function(store) is method]
        return all(self._is_plain(store) for store in own)

    def _stores(self, definition: ast.ClassDef) -> Iterator[ast.Attribute]:
        """Where attributes of ``self`` are stored, or what they hold is filled."""
        for base in self._facts.bases(definition):
            for slot in self._facts.classes[base].slots.values():
                yield from slot.stores
                for use in slot.uses:
                    parent = self._tree.parent(use)
                    is_item = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
                    if is_item or (isinstance(parent, ast.Attribute) and parent.attr in _FILLING):
                        yield use

    def _is_plain(self, store: ast.Attribute) -> bool:
        """Whether what a constructor stores is no graph, and no module that keeps something."""
        statement = self._tree.parent(store)
        if isinstance(statement, (ast.Subscript, ast.Attribute)):
            return True
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            return False
        kind = self._inference.kind(statement.value)
        if kind.type is Type.MODULE:
            return self._is_stateless(kind)
        if not kind.known:
            return isinstance(statement.value, ast.Name)  # a setting that the constructor is given
        return self._is_graphless(kind) or kind.type in (Type.SEQUENCE, Type.FUNCTION)

    def _is_closed(self, function: Function) -> bool:
        """Whether a function, and those of the file that it calls, use nothing from outside that could hang on a graph, and
        back-propagate nothing.
        """
        if function not in self._closed:
            self._closed[function] = True, False  # while it is looked at
            before, self._is_begun = self._is_begun, False
            is_closed = all(self._is_harmless(node, function) for node in ast.walk(function))
            self._closed[function] = is_closed, self._is_begun
            self._is_begun = before
        is_closed, begins = self._closed[function]
        self._is_begun = self._is_begun or begins
        return is_closed

    def _is_harmless(self, node: ast.AST, function: Function) -> bool:
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield)):
            return False
        if isinstance(node, ast.Attribute):
            return node.attr not in ("backward", "grad")
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return True
        outside = [each for each in self._bindings.reaching(node) if not self._tree.inside(each.node, function)]
        return all(self._is_harmless_outside(binding, node) for binding in outside)

    def _is_harmless_outside(self, binding: Binding, use: ast.Name) -> bool:
        kind = self._inference.binding_kind(binding)
        if kind.type is Type.MODULE:
            return self._begins(use, kind)
        if isinstance(binding.node, FUNCTIONS):
            return self._is_closed(binding.node)
        if binding.form is Form.IMPORT:
            return self._is_harmless_import(use)
        return binding.form is Form.CLASS or self._is_graphless(kind)

    def _is_harmless_import(self, use: ast.Name) -> bool:
        """Whether what is imported keeps no graph: of a library that does not, a function that only computes, a constant."""
        if f"{self._names.qualified(use)}.".startswith(PLAIN) or use.id.isupper():
            return True
        called: ast.expr = use
        while isinstance(parent := self._tree.parent(called), ast.Attribute):
            called = parent
        found = self._elsewhere.function(called)
        return is_pure(found) if found is not None else self._inference.kind(called).type is Type.CLASS

    def _reports(self, function: ast.expr) -> bool:
        """Whether a function only shows what it is given; `torch.log` is no logger."""
        called = last_name(function)
        return called in _REPORTING and (called != "log" or self._names.qualified(function) != "torch.log")

    # --- where it goes -----------------------------------------------------------------------------------------------

    def _flows_to(self, use: ast.Name, backward: ast.Call) -> list[Binding] | None:
        """The variables that a use of a value makes others from; ``None`` where the value may get out of sight."""
        if self._no_grad.covers(use) or self._tree.inside(use, backward):
            return []
        child: ast.AST = use
        for parent in self._tree.ancestors(use):
            match parent:
                case ast.Attribute(attr=name) if name in _CUTTING:
                    return []
                case ast.Call(func=function) if child is not function and self._reports(function):
                    return []
                case ast.FormattedValue() | ast.Compare() | ast.Delete():
                    return []
                case ast.Call() if self._is_earlier(parent, backward):
                    return []  # which needs that what it goes through be retained, and leaves it to this one
                case ast.Call(func=function) if child is not function and not self._is_pure(parent):
                    return None
                case ast.Call(func=function) if _position(parent) > _position(backward) and self._elsewhere.function(function):
                    return None  # which may go through the graph again
                case ast.Assign(targets=[target], value=value) if value is child:
                    return self._bound_by(target)
                case ast.AugAssign(target=target):
                    return self._bound_by(target)
                case ast.stmt() | ast.comprehension() | ast.Lambda():
                    return None
            child = parent
        return None

    def _is_earlier(self, call: ast.Call, backward: ast.Call) -> bool:
        """Whether a call back-propagates in the same round, and before ``backward``."""
        if self._backwards.propagated_by(call) is None or _position(call) >= _position(backward):
            return False
        return next(self._tree.loops(call), None) is next(self._tree.loops(backward), None)

    def _bound_by(self, target: ast.expr) -> list[Binding] | None:
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        bindings = [self._bindings.of(name) if isinstance(name, ast.Name) else None for name in names]
        return None if None in bindings else [binding for binding in bindings if binding is not None]


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
