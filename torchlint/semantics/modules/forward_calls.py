"""Calls of a module's ``forward`` that leave out what calling the module would do besides: its hooks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Kind, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.constructors.initialisations import Initialisations, NeverInitialised
from torchlint.semantics.modules.evidence import ModuleEvidence

_OWN_CALL = ("gpytorch.", "torchmetrics.", "botorch.", "pyro.contrib.gp.", "torch.fx.")
"""Packages whose modules have a ``__call__`` of their own, that does other things than ``forward``."""

_COMPILING = ("torch.compile", "torch.jit.", "torch.cuda.make_graphed_callables")
"""Functions whose result does what the function that they are given does."""
_CLASS = re.compile(r"[A-Z]\w*[a-zA-Z0-9]")
_PLAIN_BASES = frozenset({"builtins.object", "abc.ABC"})
_OWN_FORWARD = ("forward", "__call__", "__getattr__")


class ForwardCalls:
    """Looks at the calls of ``forward`` in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes = semantics.of(ModuleClasses)

    def leave_out_hooks(self, call: ast.Call) -> bool:
        """Whether ``x.forward(…)`` runs a module past its hooks, and nothing shows that this is meant.

        No where ``x`` is not known to be a module, or calling it may do more than run its hooks and its ``forward``.
        """
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "forward":
            return False
        receiver = call.func.value
        kind = self._semantics.kind(receiver)
        if kind.type is Type.INSTANCE:
            return self._is_mixed_in(kind) and not self._is_deliberate(call, receiver, kind)
        if kind.type is not Type.MODULE and not (kind.type is Type.UNKNOWN and self._is_likely_module(receiver, call)):
            return False
        if kind.definition is None and self._stands_for_plain_object(receiver):
            return False
        if not self._is_plain_module(kind, call) or self._is_deliberate(call, receiver, kind):
            return False
        return not self._is_never_initialised(kind) and not self._may_be_plain(kind)

    def _may_be_plain(self, kind: Kind) -> bool:
        """Whether a receiver of unknown class may be of one in the project that is used as modules are, and is none."""
        is_known = kind.definition is not None or kind.name or kind.classes_elsewhere
        return not is_known and self._semantics.elsewhere.speaks_of("plain forwards") is True

    def _is_never_initialised(self, kind: Kind) -> bool:
        """Whether a module's constructor never runs that of `Module`: calling it raises, as there are no hooks to look for."""
        definition = kind.definition
        if not isinstance(definition, ast.ClassDef):
            return False
        constructor = self._semantics.facts.method(definition, "__init__")
        return any(
            isinstance(wrong, NeverInitialised) and wrong.constructor is constructor
            for wrong in self._semantics.of(Initialisations).wrong.values()
        )

    def _is_mixed_in(self, kind: Kind) -> bool:
        """Whether a class without a ``forward`` is there to be mixed into modules, and is mixed into those of other files.

        Of one that nobody derives from, those beside it tell.
        """
        definition = kind.definition
        if not isinstance(definition, ast.ClassDef) or self._mixed_in.get(definition, False) is False:
            return False
        return self._mixed_in[definition] or (True in self._mixed_in.values() and False not in self._mixed_in.values())

    @cached_property
    def _mixed_in(self) -> dict[ast.ClassDef, bool | None]:
        """The classes that call a ``forward`` which they lack: whether they are mixed into modules; `None` if into nothing."""
        facts, found = self._semantics.facts, dict[ast.ClassDef, bool | None]()
        for node in facts.classes if self._semantics.elsewhere.callers is not None else ():
            is_top = node in self._semantics.tree.module.body and not facts.is_module(node)
            slot = facts.classes[node].slots.get("forward") if is_top else None
            if slot is not None and slot.uses and not any(facts.method(node, name) is not None for name in _OWN_FORWARD):
                if self._is_plain_class(node):
                    found[node] = self._heirs_are_modules(node)
        return found

    def _is_plain_class(self, node: ast.ClassDef) -> bool:
        """Whether a class derives from nothing but classes of the file and plain ones."""
        facts = self._semantics.facts
        outside = [base for each in facts.bases(node) for base in each.bases if facts.definition(base) is None]
        return all(self._semantics.qualified_name(base) in _PLAIN_BASES for base in outside)

    def _heirs_are_modules(self, node: ast.ClassDef) -> bool | None:
        """Whether the classes that derive from a class, and that nobody derives from, are modules; `None` if there are none."""
        facts, callers = self._semantics.facts, self._semantics.elsewhere.callers
        others = [each for each in facts.derived(node) if not facts.is_module(each)]
        heirs = [each for each in others if callers is not None and callers.heirs(each.name)]
        if not heirs:
            return None
        return all(callers is not None and callers.are_modules(each.name) for each in heirs)

    def _is_likely_module(self, receiver: ast.expr, call: ast.Call) -> bool:
        """Whether what is not known is used as a module is; networks of OpenCV are given their input before ``forward()``."""
        if not call.args and not call.keywords:
            return False
        is_likely = self._semantics.of(ModuleEvidence).is_module(receiver) or self._is_part_of_module(receiver)
        return is_likely and not self._is_plain_object(receiver)

    def _is_part_of_module(self, receiver: ast.expr) -> bool:
        """Whether an attribute of a module is given what a class makes that is imported: `self.distance = LPIPS()`."""
        if not isinstance(receiver, ast.Attribute):
            return False
        owner = self._semantics.facts.self_class(receiver.value)
        if owner is None or not self._classes.is_sure(owner):
            return False
        slots = self._semantics.facts.slots(owner, receiver.attr)
        parents = [self._semantics.tree.parent(store) for slot in slots for store in slot.stores]
        values = [part for each in parents if isinstance(each, ast.Assign) for part in _chosen(each.value)]
        return len(values) >= len(parents) > 0 and all(map(self._makes_imported, values))

    def _makes_imported(self, value: ast.expr) -> bool:
        """Whether a class makes a value that another library has."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, (ast.Name, ast.Attribute)):
            return False
        name = self._semantics.qualified_name(value.func) or ""
        return "." in name and _CLASS.fullmatch(name.rpartition(".")[2]) is not None and not name.startswith("builtins.")

    def _is_plain_object(self, receiver: ast.expr) -> bool:
        """Whether an attribute of ``self`` is given what a class of another file makes that is no module."""
        if not isinstance(receiver, ast.Attribute):
            return False
        owner = self._semantics.facts.self_class(receiver.value)
        slots = self._semantics.facts.slots(owner, receiver.attr) if owner is not None else ()
        values = (getattr(self._semantics.tree.parent(store), "value", None) for slot in slots for store in slot.stores)
        return any(isinstance(value, ast.Call) and self._semantics.elsewhere.is_plain(value.func) for value in values)

    def _stands_for_plain_object(self, receiver: ast.expr) -> bool:
        """Whether an argument is called as what a plain class of the file makes: ``model = ELM()``, ``def train(model)``."""
        if not isinstance(receiver, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(receiver)
        if not bindings or any(each.form is not Form.PARAMETER for each in bindings):
            return False
        made = self._semantics.bindings.scopes[self._semantics.tree.module].bindings.get(receiver.id, ())
        return bool(made) and all(not each.path and self._makes_plain(each.value) for each in made)

    def _makes_plain(self, value: ast.expr | None) -> bool:
        """Whether a class of the file that is no module, and cannot be called as one, makes a value."""
        facts = self._semantics.facts
        definition = facts.definition(value.func) if isinstance(value, ast.Call) else None
        if not isinstance(definition, ast.ClassDef) or facts.method(definition, "__call__") is not None:
            return False
        return self._is_plain_class(definition)

    def _is_plain_module(self, kind: Kind, call: ast.Call) -> bool:
        """Whether calling a module does no more than run its hooks and its ``forward``, as far as can be seen."""
        definition = kind.definition
        if not isinstance(definition, ast.ClassDef):
            return bool(kind.name) or not self._is_in_framework(call)
        facts = self._semantics.facts
        if facts.method(definition, "__call__") is not None or not self._classes.is_sure(definition):
            return False
        names = [self._semantics.qualified_name(base) or "" for each in facts.bases(definition) for base in each.bases]
        return not any(name.startswith(_OWN_CALL) for name in names)

    def _is_in_framework(self, call: ast.Call) -> bool:
        """Whether a call stands in a module with a base from elsewhere, whose like may have a ``__call__`` of their own."""
        owner = self._semantics.tree.enclosing_class(call)
        if owner is None or not self._semantics.facts.is_module(owner) or self._classes.has_known_bases(owner):
            return False
        return not (owner.bases and all(map(self._is_plain_elsewhere, owner.bases)))

    def _is_plain_elsewhere(self, base: ast.expr) -> bool:
        """Whether a base is a class of modules of another file, and leaves their ``__call__`` to torch."""
        elsewhere = self._semantics.elsewhere
        found = elsewhere.module_class(base)
        return found is not None and elsewhere.lookup.is_plain(found)

    # --- what is meant -----------------------------------------------------------------------------------------------

    def _is_deliberate(self, call: ast.Call, receiver: ast.expr, kind: Kind) -> bool:
        """Whether a call of ``forward`` is meant: in what a module's call itself runs, or where ``forward`` is replaced, if
        only by itself, compiled: ``net.forward = torch.compile(net.forward)``.
        """
        if None in self._replaced or ast.unparse(receiver) in self._replaced or self._is_for_scripting(call):
            return True
        function = self._method_around(call)
        if function is None:
            return False
        if function.name == "__call__":
            return True
        return self._semantics.facts.self_class(receiver) is not None and function in self._run_by_forward(kind)

    @cached_property
    def _replaced(self) -> set[str | None]:
        """What the file gives its own ``forward``, compiled, as it is spelled; `None` if it gives something another one."""
        attributes = self._semantics.tree.of_type(ast.Attribute)
        stores = (node for node in attributes if node.attr == "forward" and not isinstance(node.ctx, ast.Load))
        return {ast.unparse(store.value) if self._is_compiled(store) else None for store in stores}

    def _is_compiled(self, store: ast.Attribute) -> bool:
        """Whether an attribute gets what it was, compiled: ``net.forward = torch.compile(net.forward)``."""
        match self._semantics.tree.parent(store):
            case ast.Assign(value=ast.Call(func=function, args=[given, *_])):
                name = self._semantics.qualified_name(function) or ""
                return name.startswith(_COMPILING) and ast.unparse(given) == ast.unparse(store)
        return False

    def _is_for_scripting(self, call: ast.Call) -> bool:
        """Whether a call stands under ``if torch.jit.is_scripting():``."""
        return any(
            isinstance(parent, ast.If)
            and isinstance(parent.test, ast.Call)
            and self._semantics.qualified_name(parent.test.func) == "torch.jit.is_scripting"
            for parent in self._semantics.tree.ancestors(call)
        )

    def _method_around(self, node: ast.AST) -> Function | None:
        """The outermost function that ``node`` stands in, below its class."""
        found: Function | None = None
        for parent in self._semantics.tree.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                found = parent
            elif isinstance(parent, ast.ClassDef):
                break
        return found

    def _run_by_forward(self, kind: Kind) -> set[Function]:
        """The methods of a class that its ``forward`` runs, itself included."""
        facts = self._semantics.facts
        found: set[Function] = set()
        assert isinstance(kind.definition, ast.ClassDef)
        pending = [facts.method(kind.definition, "forward")]
        while pending:
            method = pending.pop()
            if method is None or method in found:
                continue
            found.add(method)
            for part in ast.walk(method):
                if isinstance(part, ast.Attribute) and facts.self_class(part.value) is not None:
                    pending.append(facts.method(kind.definition, part.attr))
        return found


def _chosen(value: ast.expr) -> Iterator[ast.expr]:
    """What a value may be, but for none."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _chosen(body)
            yield from _chosen(orelse)
        case ast.Constant(value=None):
            return
        case _:
            yield value
