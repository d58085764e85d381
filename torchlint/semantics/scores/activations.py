"""What a value was put through last: logits, probabilities or their logarithms, followed through names, layers and models."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_none
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.scores.outputs import (
    MAKING_FUNCTIONS,
    MAKING_LAYERS,
    MAKING_METHODS,
    SHAPING,
    SHAPING_FUNCTIONS,
    SHAPING_LAYERS,
    Output,
)
from torchlint.semantics.scores.remade import Path, Remade
from torchlint.semantics.sequences.changed import ChangedSequences
from torchlint.semantics.summaries.lookup import ClassElsewhere


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value became what it is.

    ``node`` is the call that computes it, or the construction of the layer that does (``nn.Softmax(dim=1)`` in an
    ``nn.Sequential``); ``operand`` what it was computed from, where that is an expression. ``functions`` are those of the
    file that the value was returned by, innermost first, and ``names`` the names it went through on the way.
    """

    output: Output
    node: ast.Call
    operand: ast.expr | None = None
    functions: tuple[ast.AST, ...] = ()
    names: tuple[Binding, ...] = ()
    unique: bool = True
    """Whether it is the only place that the value may be from."""
    stored: bool = False
    """Whether the value was an attribute on the way, which others may read, too."""
    there: str = ""
    """In which other file of the project the value is made, with its line, where ``node`` is the call of a model of that."""


_SAME_MODULE = frozenset({"to", "cuda", "cpu", "float", "half", "double", "train", "eval", "apply", "share_memory"})
_WRAPPERS = frozenset(
    {
        *("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.compile", "torch.jit.script"),
        *("copy.deepcopy", "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm"),
    }
)
_HEADS = frozenset({"fc", "classifier", "head", "heads"})
_DEEP = 24


class Activations:
    """Finds where the values of expressions became logits, probabilities or log-probabilities."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._remade = semantics.of(Remade)
        self._origins: dict[tuple[ast.AST, Path], Origin | None] = {}
        self._changed_attributes: dict[tuple[ast.ClassDef, str, Path], bool] = {}
        self._depth = 0

    def origin(self, node: ast.expr, path: Path = ()) -> Origin | None:
        """Where the value of ``node`` is from, or the part of it that ``path`` leads to; ``None`` where that is not certain."""
        key = (node, path)
        if key not in self._origins:
            self._origins[key] = None  # while it is looked for: what refers to itself is not certain
            if self._depth < _DEEP:
                self._depth += 1
                self._origins[key] = self._find(node, path)
                self._depth -= 1
        return self._origins[key]

    def _find(self, node: ast.expr, path: Path) -> Origin | None:
        match node:
            case ast.Name():
                return self._name(node, path)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(value, name, path)
            case ast.Call():
                return self._call(node, path)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if path:
                index = path[0]
                return self.origin(parts[index], path[1:]) if isinstance(index, int) and index < len(parts) else None
            case ast.Dict(keys=keys, values=values) if path:
                named = [value for key, value in zip(keys, values) if isinstance(key, ast.Constant) and key.value == path[0]]
                return self.origin(named[0], path[1:]) if len(named) == 1 else None
            case ast.Subscript(value=value, slice=index):
                return self._subscript(value, index, path)
            case ast.IfExp(body=body, orelse=orelse):
                return _agreed([self.origin(body, path), self.origin(orelse, path)])
            case ast.NamedExpr(value=value):
                return self.origin(value, path)
        return None

    def _subscript(self, value: ast.expr, index: ast.expr, path: Path) -> Origin | None:
        if isinstance(index, ast.Constant) and isinstance(index.value, (int, str)):
            found = self.origin(value, (index.value, *path))
            if found is not None or isinstance(index.value, str):
                return found
        return self.origin(value, path) if self._semantics.kind(value).is_tensor else None

    # --- names -------------------------------------------------------------------------------------------------------

    def _name(self, name: ast.Name, path: Path) -> Origin | None:
        bindings = self._semantics.bindings.reaching(name)
        found = _agreed([self._bound(binding, path) for binding in bindings]) if bindings else None
        if found is None or any(self._remade.is_changed(binding, path) for binding in bindings):
            return None
        return replace(found, names=(*found.names, *bindings))

    def _bound(self, binding: Binding, path: Path) -> Origin | None:
        if binding.form is Form.ASSIGNMENT and binding.value is not None:
            steps = [step for step in binding.path if step is not None]
            return self.origin(binding.value, (*steps, *path)) if len(steps) == len(binding.path) else None
        if binding.form is Form.LOOP and binding.value is not None:
            return self._item(binding.value, binding.path) if not path else None
        given = self._semantics.inference.given(binding)
        return _agreed([self.origin(each, path) if each is not None else None for each in given]) if given else None

    def _item(self, iterable: ast.expr, path: tuple[int | None, ...]) -> Origin | None:
        """What a loop takes from a tensor: ``for row in x.softmax(1)``, also beside others or with its number."""
        if isinstance(iterable, ast.Name) and path:
            bindings = self._semantics.bindings.reaching(iterable)
            given = bindings[0].value if len(bindings) == 1 and bindings[0].form is Form.ASSIGNMENT else None
            iterable = given if isinstance(given, ast.Call) and not bindings[0].path else iterable
        match iterable, path:
            case ast.Call(func=ast.Name("zip"), args=parts, keywords=[]), (int(place),) if place < len(parts):
                return self.origin(parts[place])
            case ast.Call(func=ast.Name("enumerate"), args=[part, *_]), (1, *rest):
                return self._item(part, tuple(rest))
        return self.origin(iterable) if not path else None

    def _attribute(self, owner: ast.expr, name: str, path: Path) -> Origin | None:
        """What an attribute of ``self`` holds, where all that is assigned to it, but for ``None``, is alike."""
        definition = self._semantics.facts.self_class(owner)
        values = self._stored(definition, name) if definition is not None else []
        some = [value for value in values if not is_none(value)]
        found = _agreed([self.origin(value, path) for value in some])
        if definition is None or found is None or self._is_changed(definition, name, path):
            return None
        return replace(found, stored=True)

    def _is_changed(self, definition: ast.ClassDef, name: str, path: Path) -> bool:
        """Whether a class changes in place what an attribute holds."""
        key = (definition, name, path)
        if key not in self._changed_attributes:
            uses = [use for slot in self._semantics.facts.slots(definition, name) for use in slot.uses]
            self._changed_attributes[key] = self._remade.are_changed(uses, path)
        return self._changed_attributes[key]

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, call: ast.Call, path: Path) -> Origin | None:
        name = self._semantics.qualified_name(call.func) or ""
        operand = call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None
        if name in MAKING_FUNCTIONS:
            return Origin(MAKING_FUNCTIONS[name], call, operand) if not path else None
        if name == "torch.exp":
            return self._exponential(call, operand) if operand is not None and not path else None
        if name in SHAPING_FUNCTIONS:
            return self.origin(operand, path) if operand is not None else None
        if isinstance(call.func, ast.Attribute) and (found := self._method(call, call.func, path)) is not None:
            return found
        kind = self._semantics.kind(call.func)
        if kind.type is Type.FUNCTION:
            return self._returned(kind.definition, path)
        if kind.type is Type.MODULE:
            if isinstance(call.func, ast.Attribute) and call.func.attr in _SAME_MODULE:
                return None
            return self._through(call.func, call, operand, path)
        return None

    def _method(self, call: ast.Call, function: ast.Attribute, path: Path) -> Origin | None:
        receiver, method = function.value, function.attr
        if method in MAKING_METHODS and not path and self._semantics.kind(receiver).type in (Type.UNKNOWN, Type.TENSOR):
            return Origin(MAKING_METHODS[method], call, receiver)
        if method in SHAPING and self._semantics.kind(receiver).type in (Type.UNKNOWN, Type.TENSOR):
            return self.origin(receiver, path)
        if (
            method == "exp"
            and not call.args
            and not path
            and self._semantics.kind(receiver).type in (Type.UNKNOWN, Type.TENSOR)
        ):
            return self._exponential(call, receiver)
        if method == "forward" and self._semantics.kind(receiver).type is Type.MODULE:
            return self._through(receiver, call, call.args[0] if call.args else None, path)
        owner = self._semantics.facts.self_class(receiver)
        if owner is not None and (called := self._semantics.facts.method(owner, method)) is not None:
            return self._returned(called, path)
        return None

    def given_by_class(self, definition: ast.ClassDef, path: Path = ()) -> Origin | None:
        """What calling an instance of a class of the file gives, or a part of that."""
        return self._returned(self._forward(definition), path)

    def _elsewhere(self, classes: tuple[ClassElsewhere, ...], call: ast.Call | None, path: Path) -> Origin | None:
        """What calling an instance of one of some classes of other files gives, where all of them give alike."""
        if call is None:
            return None
        found = [self._semantics.elsewhere.lookup.output(each, path) for each in classes]
        first = found[0] if found else None
        if first is None or any(each is None or each[1].output != first[1].output for each in found):
            return None
        there = f"{self._semantics.elsewhere.shown(first[0])}:{first[1].line}"
        return Origin(Output(first[1].output), call, there=there, unique=len(found) == 1)

    def _exponential(self, call: ast.Call, operand: ast.expr) -> Origin | None:
        """Where the exponential of log-probabilities makes probabilities of them: ``torch.exp(F.log_softmax(x, dim=1))``."""
        found = self.origin(operand)
        if found is None or found.output is not Output.LOG_SOFTMAX:
            return None
        is_whole = found.node is operand and found.operand is not None
        return Origin(Output.SOFTMAX, call, found.operand if is_whole else operand)

    def _returned(self, function: ast.AST | None, path: Path) -> Origin | None:
        """What a function of the file returns."""
        if isinstance(function, ast.Lambda):
            found = self.origin(function.body, path)
        elif isinstance(function, FUNCTIONS) and not function.decorator_list:
            values = self._semantics.facts.returned(function)
            found = _agreed([self.origin(value, path) if value is not None else None for value in values]) if values else None
        else:
            return None
        return replace(found, functions=(*found.functions, function)) if found is not None else None

    # --- modules -----------------------------------------------------------------------------------------------------

    def _through(self, module: ast.expr, call: ast.Call, operand: ast.expr | None, path: Path) -> Origin | None:
        """What calling a module gives."""
        origins = [self._layer(made, call, operand, path) for made in self.constructions(module)]
        if origins:
            return _agreed(origins)
        kind = self._semantics.kind(module)
        if kind.classes_elsewhere:
            return self._elsewhere(kind.classes_elsewhere, call, path)
        return self._returned(self._forward(kind.definition), path)

    def _forward(self, definition: ast.AST | None) -> Function | None:
        if not isinstance(definition, ast.ClassDef) or self._semantics.facts.method(definition, "__call__") is not None:
            return None
        return self._semantics.facts.method(definition, "forward")

    def _layer(self, made: ast.expr, call: ast.Call | None, operand: ast.expr | None, path: Path) -> Origin | None:
        """What a layer gives that ``made`` constructs, called in ``call`` or as the last one of a container."""
        if not isinstance(made, ast.Call):
            return None
        name = self._semantics.qualified_name(made.func) or ""
        if name in MAKING_LAYERS and not path:
            return Origin(MAKING_LAYERS[name], call or made, operand)
        if name == "torch.nn.Sequential" and not path:
            return None if self._semantics.of(ChangedSequences).include(made) else self._sequential(made)
        if name.startswith("torchvision.models.") and not path:
            return self._replaced_head(made)
        kind = self._semantics.kind(made)
        if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef):
            return self._returned(self._forward(kind.definition), path)
        return self._elsewhere(kind.classes_elsewhere, call, path)

    def _replaced_head(self, made: ast.Call) -> Origin | None:
        """What a model of torchvision gives whose head the file replaces: ``model.fc = nn.Sequential(…)``."""
        heads = [
            statement.value
            for store in self._heads
            if isinstance(statement := self._semantics.tree.parent(store), ast.Assign)
            and list(self.constructions(store.value)) == [made]
        ]
        if len(heads) != 1:
            return None
        return _agreed([self._layer(each, None, None, ()) for each in self.constructions(heads[0])])

    @cached_property
    def _heads(self) -> list[ast.Attribute]:
        """Where attributes are assigned that are the last layers of vision models."""
        return [
            node
            for node in self._semantics.tree.of_type(ast.Attribute)
            if isinstance(node.ctx, ast.Store) and node.attr in _HEADS
        ]

    def _sequential(self, made: ast.Call) -> Origin | None:
        """What the last layer gives that does more than shape its input."""
        for layer in reversed(list(self._layers(made)) or [None]):
            if layer is None:
                return None
            constructions = list(self.constructions(layer))
            names = {
                self._semantics.qualified_name(each.func) if isinstance(each, ast.Call) else None for each in constructions
            }
            if not names or not names <= SHAPING_LAYERS:
                return _agreed([self._layer(each, None, None, ()) for each in constructions]) if constructions else None
        return None

    def _layers(self, made: ast.Call) -> Iterator[ast.expr | None]:
        """The layers of an ``nn.Sequential``; ``None`` for those that are not written out."""
        for argument in made.args:
            match argument:
                case ast.Call(args=[ast.List(elts=pairs) | ast.Tuple(elts=pairs)]):
                    yield from [pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else None for pair in pairs]
                case ast.Starred(value=ast.Name() as name):
                    yield self._last_of(name, made)
                case ast.Starred(value=ast.List(elts=parts) | ast.Tuple(elts=parts)):
                    yield from parts
                case ast.Starred():
                    yield None
                case _:
                    yield argument

    def _last_of(self, name: ast.Name, made: ast.Call) -> ast.expr | None:
        """The last item of a list: written out or appended last, in the block in which the list is used."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or not isinstance(bindings[0].value, ast.List) or bindings[0].path:
            return None
        tree = self._semantics.tree
        block = tree.block(tree.statement(made))
        last: ast.expr | None = bindings[0].value.elts[-1] if bindings[0].value.elts else None
        if tree.statement(bindings[0].node) not in block:
            return None
        for use in bindings[0].uses:
            if use is name:
                break
            match tree.parent(use):
                case ast.Attribute(attr="append") as attribute:
                    call = tree.parent(attribute)
                    is_last = isinstance(call, ast.Call) and len(call.args) == 1 and tree.statement(use) in block
                    last = call.args[0] if is_last and isinstance(call, ast.Call) else None
                case ast.Attribute(attr="extend" | "insert" | "pop") | ast.AugAssign():
                    last = None
        return None if isinstance(last, ast.Starred) else last

    def constructions(self, module: ast.expr) -> Iterator[ast.expr]:
        """The expressions that make a module: what its name or attribute is assigned, less what wraps or moves it."""
        pending, seen = [module], set[ast.expr]()
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            sources = self._sources(node)
            if sources is None:
                yield node
            else:
                pending.extend(sources)

    def _sources(self, node: ast.expr) -> list[ast.expr] | None:
        """What an expression that is no construction itself takes its module from."""
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path and each.value]
                return list(values) if len(values) == len(bindings) > 0 else self._given(bindings)
            case ast.Attribute(value=value, attr=name):
                owner = self._semantics.facts.self_class(value)
                if owner is None:
                    owner = self._owner(value)
                return self._stored(owner, name) if owner is not None else [] if name != "module" else [value]
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in _SAME_MODULE:
                return [receiver]
            case ast.Call(func=function, args=[first, *_]) if self._semantics.qualified_name(function) in _WRAPPERS:
                return [first]
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
        return None

    def _owner(self, value: ast.expr) -> ast.ClassDef | None:
        definition = self._semantics.kind(value).definition
        return definition if isinstance(definition, ast.ClassDef) else None

    def _stored(self, owner: ast.ClassDef, name: str) -> list[ast.expr]:
        """All that is assigned to an attribute; nothing where some of it is not known."""
        return self._semantics.facts.assigned(self._semantics.facts.slots(owner, name))

    def _given(self, bindings: Iterable[Binding]) -> list[ast.expr]:
        """What the calls in the file give for a parameter; nothing where some of it is not known."""
        values: list[ast.expr] = []
        for binding in bindings:
            given = self._semantics.inference.given(binding)
            if binding.form is not Form.PARAMETER or any(value is None for value in given):
                return []
            values.extend(value for value in given if value is not None)
        return values


def _agreed(origins: list[Origin | None]) -> Origin | None:
    """The one origin that all are, or the first of several that say the same of the value."""
    first = origins[0] if origins else None
    if first is None or any(each is None or each.output is not first.output for each in origins):
        return None
    distinct = {each.node for each in origins if each is not None}
    return first if len(distinct) == 1 else replace(first, unique=False)
