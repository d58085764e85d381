"""Which modules are made in sight, of torch's classes or the file's own: what they give and have is known for certain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import Function
from torchlint.semantics.provenance.own_stores import OwnStores
from torchlint.semantics.provenance.values import Part, Values, index_of

_DEEP = 30
"""What a module is made of at this depth is not followed any further."""
_SAME = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "share_memory"}
)
"""Methods of modules that give the module itself."""
PARALLEL = frozenset(
    {
        *("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel"),
        *("torch.nn.parallel.distributed.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallelCPU"),
    }
)
"""Modules around another one, which give what that gives."""
_IN_PLACE_AT = {
    **dict.fromkeys(("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"), 0),
    **dict.fromkeys(("ELU", "CELU", "LeakyReLU", "Dropout", "AlphaDropout", "FeatureAlphaDropout"), 1),
    **dict.fromkeys(("RReLU", "Hardtanh", "Threshold"), 2),
}
"""Layers that may work in place, by their names without dimensions; behind so many arguments they are told so by place."""
_ABSTRACT = frozenset({"torch.nn.Module", "torch.nn.Container", "torch.nn.RNNBase", "torch.nn.RNNCellBase"})
_OWN = frozenset({"__new__", "__call__", "__getattr__", "__getattribute__", "__setattr__"})
"""Methods with which a class may be anything."""
_REACHES_IN = frozenset({"__dict__", "_modules", "_parameters", "_buffers", "add_module", "register_module"})
"""Words of code that sets attributes in other ways than by assignment."""
_HOOKS = frozenset(f"register_{name}_hook" for name in ("forward", "forward_pre", "module_forward", "module_forward_pre"))


@dataclass(frozen=True, slots=True)
class Made:
    """A module by the call that makes it: of the class of torch of this ``name``, or of a class of the file."""

    call: ast.Call
    name: str
    definition: ast.ClassDef | None = None


class Modules:
    """Tells which modules an expression may give, where all of them are made in sight."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._values = semantics.of(Values)
        self._found: dict[Part, tuple[Made, ...]] = {}
        self._depth = 0
        self._stored: dict[tuple[ast.ClassDef, str], tuple[Part, ...]] = {}

    def made(self, node: ast.expr, *, exact: bool = False) -> tuple[Made, ...]:
        """The modules that ``node`` may give; none where it may give anything else.

        With ``exact``, the ``self`` of the method that ``node`` stands in is of that very class.
        """
        return self._made(Part(node, exact=exact))

    def _made(self, part: Part | None) -> tuple[Made, ...]:
        part = self._values.taken(part) if part is not None else None
        if part is None or part.path:
            return ()
        if part not in self._found:
            if self._depth == _DEEP:
                return ()
            self._depth += 1
            self._found[part] = ()  # made of itself
            self._found[part] = tuple(dict.fromkeys(self._find(part)))
            self._depth -= 1
        return self._found[part]

    def _find(self, part: Part) -> Iterator[Made]:
        match part.node:
            case ast.Call():
                yield from self._called(part.node, part.exact)
            case ast.Name():
                yield from _all_of([self._bound(each, part.exact) for each in self._values.bindings(part.node)])
            case ast.IfExp(body=body, orelse=orelse):
                yield from _all_of([self._made(Part(each, exact=part.exact)) for each in (body, orelse)])
            case ast.Attribute(value=owner, attr="module") if around := self.made(owner, exact=part.exact):
                if all(each.name in PARALLEL and each.call.args for each in around):
                    yield from _all_of([self.made(each.call.args[0], exact=part.exact) for each in around])
            case ast.Attribute(value=owner, attr=name):
                if (value := self._semantics.of(OwnStores).value(part.node)) is not None:
                    yield from self._made(Part(value, exact=part.exact))
                else:
                    yield from _all_of([self._made(stored) for stored in self.stored(owner, name, exact=part.exact)])
            case ast.Subscript(value=owner) if (index := index_of(part.node)) is not None:
                for each in self.made(owner, exact=part.exact):
                    layers = sequence_layers(each)
                    if -len(layers) <= index < len(layers):
                        yield from self.made(layers[index], exact=part.exact)

    def _bound(self, binding: Binding, exact: bool) -> tuple[Made, ...]:
        """The modules that a binding may bind; of an argument, that of torch that it is annotated as."""
        annotation = binding.annotation
        if binding.form is Form.PARAMETER and annotation is not None:
            name = self._semantics.qualified_name(annotation) or ""
            made_somehow = ast.Call(annotation, [], [ast.keyword(None, annotation)])
            return (Made(made_somehow, name),) if name in torch_api.MODULES - _ABSTRACT else ()
        return self._made(self._values.assigned(binding, exact=exact))

    def _called(self, call: ast.Call, exact: bool) -> Iterator[Made]:
        name = self._semantics.qualified_name(call.func) or ""
        if name in torch_api.MODULES - _ABSTRACT or name in PARALLEL:
            yield Made(call, name)
            return
        if name == "copy.deepcopy" and len(call.args) == 1 and "__deepcopy__" not in self._semantics.words.all:
            yield from self.made(call.args[0], exact=exact)
            return
        definition = self._facts.definition(call.func)
        if isinstance(definition, ast.ClassDef):
            if self.is_plain(definition):
                yield Made(call, "", definition)
            return
        if (function := self._values.called(call)) is not None:
            yield from _all_of([self.made(value) for value in self._values.returned(function) or ()])
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _SAME:
            found = self.made(call.func.value, exact=exact)
            if not any(each.definition and self._facts.method(each.definition, call.func.attr) for each in found):
                yield from found

    # --- classes of the file -----------------------------------------------------------------------------------------

    def is_plain(self, definition: ast.ClassDef) -> bool:
        """Whether a class of the file is a module that derives from torch's alone, and does what its text says."""
        bases = {self._semantics.qualified_name(base) for base in definition.bases}
        if not bases <= {"torch.nn.Module", "builtins.object"} or definition.keywords or definition.decorator_list:
            return False
        return "torch.nn.Module" in bases and not _OWN & self._facts.classes[definition].methods.keys()

    def is_guarded(self, definition: ast.ClassDef) -> bool:
        """Whether a class derives from modules of torch and of the file alone, and stores attributes as `nn.Module` does."""
        for each in self._facts.bases(definition):
            others = [base for base in each.bases if not isinstance(self._facts.definition(base), ast.ClassDef)]
            names = {self._semantics.qualified_name(base) or "" for base in others}
            if not names <= torch_api.MODULES | {"torch.nn.Module", "builtins.object"} or each.keywords or each.decorator_list:
                return False
            if {"__setattr__", "__getattribute__", "__new__"} & self._facts.classes[each].methods.keys():
                return False
        return self._facts.derives_from(definition, "torch.nn.")

    def stored(self, owner: ast.expr, name: str, *, exact: bool = False) -> tuple[Part, ...]:
        """What is assigned to an attribute of a module of a class of the file; empty where it may be anything else."""
        found: list[Part] = []
        for definition in self.classes(owner, exact=exact):
            stored = self._stores(definition, name)
            if not stored:
                return ()
            found += stored
        return tuple(found)

    def classes(self, owner: ast.expr, *, exact: bool = False) -> list[ast.ClassDef]:
        """The classes of the file that ``owner`` is of, no other class; empty where it may be of another."""
        own = self._facts.self_class(owner)
        if own is not None:
            return [own] if exact and self.is_plain(own) else []
        made = self.made(owner, exact=exact)
        classes = [each.definition for each in made if each.definition is not None]
        return list(dict.fromkeys(classes)) if len(classes) == len(made) else []

    def _stores(self, definition: ast.ClassDef, name: str) -> tuple[Part, ...]:
        key = (definition, name)
        if key not in self._stored:
            parts = [self._value_of(store) for slot in self._facts.slots(definition, name) for store in slot.stores]
            values = [slot.class_values for slot in self._facts.slots(definition, name)]
            known = [part for part in parts if part is not None]
            is_open = len(known) < len(parts) or any(values) or self.is_set_from_outside(name)
            self._stored[key] = () if is_open or name in self._facts.classes[definition].methods else tuple(known)
        return self._stored[key]

    def _value_of(self, store: ast.Attribute) -> Part | None:
        """What an assignment gives an attribute of ``self``; ``None`` where that is not plain."""
        path: tuple[int, ...] = ()
        child: ast.expr = store
        parent = self._semantics.tree.parent(store)
        while isinstance(parent, (ast.Tuple, ast.List)):
            if any(isinstance(element, ast.Starred) for element in parent.elts):
                return None
            path = (parent.elts.index(child), *path)
            child, parent = parent, self._semantics.tree.parent(parent)
        match parent:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return Part(value, path, exact=True)
        return None

    def is_set_from_outside(self, name: str) -> bool:
        """Whether any code of the file may set an attribute of this name otherwise than through ``self``."""
        return self.sets_anything or name in self._set_from_outside

    @cached_property
    def sets_anything(self) -> bool:
        """Whether any code of the file sets or deletes attributes by names that are not written out."""
        calls = [*self._facts.calls.get("setattr", ()), *self._facts.calls.get("delattr", ())]
        names = [call.args[1] for call in calls if len(call.args) > 1]
        if len(names) < len(calls) or not all(isinstance(name, ast.Constant) for name in names):
            return True
        stores = {node.attr for node in self._semantics.tree.of_type(ast.Attribute) if not isinstance(node.ctx, ast.Load)}
        return "__class__" in stores or bool(_REACHES_IN & self._semantics.words.all)

    @cached_property
    def _set_from_outside(self) -> set[str]:
        nodes = self._semantics.tree.of_type(ast.Attribute)
        found = {
            node.attr for node in nodes if not isinstance(node.ctx, ast.Load) and self._facts.self_class(node.value) is None
        }
        for call in self._facts.calls.get("setattr", ()):
            match call.args:
                case [_, ast.Constant(value=str(name)), *_]:
                    found.add(name)
        return found

    # --- what they give ----------------------------------------------------------------------------------------------

    @cached_property
    def are_hooked(self) -> bool:
        """Whether the file puts hooks on modules that may make anything of what they give."""
        return bool(_HOOKS & self._semantics.words.all)

    def last_layers(self, made: Made) -> list[ast.expr]:
        """The layers of an ``nn.Sequential`` that one may be the last of; empty where that is not known."""
        return self._layers_at(made, -1)

    def first_layers(self, made: Made) -> list[ast.expr]:
        """The layers of an ``nn.Sequential`` that one may be the first of; empty where that is not known."""
        return self._layers_at(made, 0)

    def _layers_at(self, made: Made, end: int) -> list[ast.expr]:
        if made.name != "torch.nn.Sequential" or not made.call.args or made.call.keywords:
            return []
        match made.call.args[end]:
            case ast.Starred(value=layers):
                return self._values.listed(layers) or []
            case layer:
                return [layer]

    def all_layers(self, made: Made) -> list[ast.expr] | None:
        """All that a container of torch is made of; ``None`` where that is not known."""
        found: list[ast.expr] = []
        for argument in made.call.args:
            inner = self._values.listed(argument.value) if isinstance(argument, ast.Starred) else [argument]
            if inner is None:
                return None
            found += inner
        return found if not made.call.keywords else None

    def only_read(self, made: tuple[Made, ...]) -> bool:
        """Whether calling modules changes nothing of what they are given: layers of torch that do not work in place."""
        return bool(made) and not self.are_hooked and all(map(self._only_reads, made))

    def _only_reads(self, made: Made) -> bool:
        if made.name in torch_api.CONTAINER_MODULES or made.name in PARALLEL:
            layers = self.all_layers(made) if made.name not in PARALLEL else made.call.args[:1]
            return bool(layers) and all(self.only_read(self.made(layer)) for layer in layers or ())
        return made.definition is None and not works_in_place(made)

    def forward(self, made: Made) -> Function | None:
        """The method of the file that computes what a module gives."""
        return self._facts.method(made.definition, "forward") if made.definition is not None else None


def sequence_layers(made: Made) -> list[ast.expr]:
    """The layers of an ``nn.Sequential`` that are written out, each of them; empty for everything else."""
    if made.name != "torch.nn.Sequential" or any(isinstance(layer, ast.Starred) for layer in made.call.args):
        return []
    return made.call.args


def works_in_place(made: Made) -> bool:
    """Whether a layer of torch is told, or may be told, to change what it is given."""
    last = re.sub("[123]d$", "", made.name.rpartition(".")[2])
    if last not in _IN_PLACE_AT:
        return False
    named = {word.arg: word.value for word in made.call.keywords}
    flag = named.get("inplace", ast.Constant(value=False))
    is_flagged = not isinstance(flag, ast.Constant) or bool(flag.value) or None in named
    return (
        is_flagged or len(made.call.args) > _IN_PLACE_AT[last] or any(isinstance(each, ast.Starred) for each in made.call.args)
    )


def _all_of(ways: list[tuple[Made, ...]]) -> Iterator[Made]:
    """The modules of several ways; none if one of the ways may give anything else."""
    if all(ways):
        for way in ways:
            yield from way
