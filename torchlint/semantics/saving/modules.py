"""Modules that are saved whole, with their code's names, and not by their state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, argument, dotted, is_false, is_none, keyword
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.modules.evidence import ModuleEvidence
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.own_files import OwnFiles
from torchlint.semantics.saving.unsafe_loads import UnsafeLoads
from torchlint.semantics.summaries.lookup import ClassElsewhere

_MODULE_METHODS = ("parameters", "named_parameters", "state_dict", "load_state_dict", "eval", "children", "modules")
_MODEL = re.compile(r"(\w{1,20}_)?(model|net|network|classifier|generator|discriminator)")
_ASKED_OF_MODULES = ("parameters", "named_parameters", "named_modules", "children", "modules")
_DEPTH = 3
"""So deep in lists and dicts modules are looked for."""
_COMPILED = ("torch.jit.", "torch.fx.", "torch.export.", "torch.quantization.", "torch.ao.")


class SavedModules:
    """Finds the modules that a file saves."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._files = semantics.of(SavedFiles)

    @cached_property
    def whole(self) -> dict[ast.Call, tuple[ast.expr, ...]]:
        """The calls that save modules to a file, each with these; none that carries its code with it.

        A module may be what is saved, or stand in a list or dict that is.
        """
        saved = ((call, self._saved(call)) for call in self._files.saves)
        found = ((call, tuple(self._modules_in(node))) for call, node in saved if node is not None)
        return {call: modules for call, modules in found if modules and not self._is_loaded_back(call)}

    def may_be_none(self, saved: ast.expr) -> bool:
        """Whether a module that is saved may be ``None`` as well: a name or an attribute that is given it somewhere."""
        if isinstance(saved, ast.Attribute):
            owner = self._semantics.facts.self_class(saved.value)
            slots = self._semantics.facts.slots(owner, saved.attr) if owner is not None else []
            parents = (self._semantics.tree.parent(store) for slot in slots for store in slot.stores)
            values = [parent.value for parent in parents if isinstance(parent, (ast.Assign, ast.AnnAssign))]
        else:
            bindings = self._semantics.bindings.reaching(saved) if isinstance(saved, ast.Name) else ()
            values = [binding.value for binding in bindings if not binding.path]
        return any(is_none(value) for value in values)

    def is_chosen(self, save: ast.Call) -> bool:
        """Whether the other branch of a condition saves the state of the same thing: whole is what somebody asks for."""
        saved = argument(save, 0, "obj")
        spelled = ast.dump(saved) if saved is not None else ""
        states = (other for each in self._conditions_around(save) for other in self._states.get((spelled, each), ()))
        return any(self._semantics.of(OwnFiles).is_in_other_branch(other, save) for other in states)

    @cached_property
    def _states(self) -> dict[tuple[str, ast.If], list[ast.Call]]:
        """The saves of the state of something, by what that is and the conditions that they stand under."""
        found: dict[tuple[str, ast.If], list[ast.Call]] = {}
        for save in self._files.saves:
            match argument(save, 0, "obj"):
                case ast.Call(func=ast.Attribute(value=owner, attr="state_dict"), args=[]):
                    for each in self._conditions_around(save):
                        found.setdefault((ast.dump(owner), each), []).append(save)
        return found

    def _conditions_around(self, save: ast.Call) -> Iterator[ast.If]:
        """The conditions that a save stands under."""
        return (each for each in self._semantics.tree.ancestors(save) if isinstance(each, ast.If))

    def _modules_in(self, saved: ast.expr, depth: int = _DEPTH) -> Iterator[ast.expr]:
        """The modules that a value is, or that it holds where it is written out."""
        match saved:
            case ast.Dict(values=values) if depth:
                for value in values:
                    yield from self._modules_in(value, depth - 1)
            case ast.List(elts=values) | ast.Tuple(elts=values) if depth:
                for value in values:
                    yield from self._modules_in(value, depth - 1)
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words) if depth:
                for word in words:
                    yield from self._modules_in(word.value, depth - 1)
            case ast.ListComp(elt=value) | ast.DictComp(value=value) if depth:
                yield from self._modules_in(value, depth - 1)
            case ast.Name() if depth and (given := self._given(saved)):
                for value in given:
                    yield from self._modules_in(value, depth - 1)
            case ast.Name() if depth and (held := self._display(saved)) is not None:
                for value in (held, *self._stored(saved)):
                    yield from self._modules_in(value, depth - 1)
            case ast.Subscript(value=ast.Name(), slice=ast.Constant()) if depth and (kept := self._kept_under(saved)):
                if all(map(self._is_whole_module, kept)):
                    yield saved
            case ast.expr() if self._is_whole_module(saved):
                yield saved

    def _display(self, name: ast.Name) -> ast.expr | None:
        """The display of a dict or list that a name has for certain."""
        value = self._semantics.bindings.assigned(name)
        is_display = isinstance(value, (ast.Dict, ast.List, ast.Tuple, ast.DictComp)) or (
            isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "builtins.dict"
        )
        return value if is_display else None

    def _given(self, name: ast.Name) -> list[ast.expr]:
        """The displays that callers give for the parameter that a name is: ``save_checkpoint({"net": net}, path)``."""
        bindings = self._semantics.bindings.reaching(name)
        given = self._semantics.inference.given(bindings[0]) if len(bindings) == 1 else []
        displays = ((self._display(each) if isinstance(each, ast.Name) else None) or each for each in given if each is not None)
        return [each for each in displays if isinstance(each, (ast.Dict, ast.DictComp))]

    def _stored(self, name: ast.Name) -> Iterator[ast.expr]:
        """What is stored before under the keys of a dict that a name is: ``module`` of ``state["model"] = module``."""
        binding = self._semantics.bindings.reaching(name)[0]
        for use in binding.uses:
            item = self._semantics.tree.parent(use)
            store = self._semantics.tree.parent(item) if isinstance(item, ast.Subscript) and item.value is use else None
            if isinstance(store, ast.Assign) and store.targets == [item] and self._semantics.control_flow.may_follow(use, name):
                yield store.value

    def _kept_under(self, item: ast.Subscript) -> list[ast.expr]:
        """What is stored before under the key of a dict's item: ``module`` of ``best["net"] = module``, for ``best["net"]``."""
        bindings = self._semantics.bindings.reaching(item.value) if isinstance(item.value, ast.Name) else ()
        stored: list[ast.expr] = []
        for use in bindings[0].uses if len(bindings) == 1 else ():
            match self._semantics.tree.parent(self._semantics.tree.parent(use) or use):
                case ast.Assign(targets=[ast.Subscript(value=holder, slice=key)], value=value) if holder is use:
                    if ast.dump(key) == ast.dump(item.slice) and self._semantics.control_flow.may_follow(use, item):
                        stored.append(value)
        return stored

    def _is_loaded_back(self, save: ast.Call) -> bool:
        """Whether a test saves a module, and loads it whole, telling so."""
        if not self._semantics.of(OwnFiles).is_in_test(save):
            return False
        function = self._semantics.tree.function(save)
        told = ((call, each.value) for call, each in self._semantics.of(UnsafeLoads).told.items())
        return any(self._semantics.tree.function(call) is function and is_false(value) for call, value in told)

    def _saved(self, call: ast.Call) -> ast.expr | None:
        """What a call saves; ``None`` where that is to a buffer in memory."""
        if len(call.args) > 1 and self._files.is_in_memory(call.args[1]):
            return None
        return call.args[0] if call.args else keyword(call, "obj")

    def _is_whole_module(self, saved: ast.expr) -> bool:
        return self._is_module(saved) and not self._is_compiled(saved)

    def _is_module(self, saved: ast.expr) -> bool:
        """Whether a module is saved; that something has a method ``train`` is not enough for that."""
        kind = self._semantics.kind(saved)
        if self._is_result_of_training(saved):
            return False
        if kind.elsewhere is not None:
            return kind.type is Type.MODULE or self._semantics.elsewhere.lookup.is_module(kind.elsewhere)
        if kind.used == "train":
            given = self._handed(saved)
            return (
                self._is_layer(saved)
                or self._is_run_in_both_modes(saved)
                or self._is_asked_like_module(saved)
                or (bool(given) and all(each is not None and self._has_mode_and_state(each) for each in given))
            )
        evidence = self._semantics.of(ModuleEvidence)
        if not kind.known and self._is_called_a_model(saved) and evidence.has_method(saved, ("state_dict",)):
            return True  # which optimizers have, too
        if kind.type is Type.MODULE or (evidence.is_module(saved) and self._has_method(saved, _MODULE_METHODS)):
            return True
        return not kind.known and self._is_handed_module(saved)

    def _is_layer(self, saved: ast.expr) -> bool:
        """Whether a name is given nothing but what classes of ``torch.nn`` make: ``model = nn.DataParallel(model)``."""
        bindings = self._semantics.bindings.reaching(saved) if isinstance(saved, ast.Name) else ()
        made = [None if each.path else each.value for each in bindings]
        return bool(made) and all(
            isinstance(each, ast.Call) and self._semantics.qualified_name(each.func) in torch_api.MODULES for each in made
        )

    def _is_handed_module(self, saved: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether every call gives a module for the parameter that is saved, or that an attribute is set to: one of a known
        class, or whose parameters are asked for.
        """
        evidence = self._semantics.of(ModuleEvidence)
        given = self._handed(saved) if depth else []
        return bool(given) and all(
            each is not None
            and (
                self._semantics.kind(each).type is Type.MODULE
                or evidence.has_method(each, _ASKED_OF_MODULES)
                or self._is_handed_module(each, depth - 1)
            )
            for each in given
        )

    def _has_mode_and_state(self, node: ast.expr) -> bool:
        """Whether something is put into evaluation mode, as no optimizer is, and asked for its state."""
        evidence = self._semantics.of(ModuleEvidence)
        return all(evidence.has_method(node, (name,)) for name in ("train", "eval", "state_dict"))

    def _is_run_in_both_modes(self, node: ast.expr) -> bool:
        """Whether a variable is put into both modes, and called, as modules are and nothing else that has a ``train``."""
        evidence, bindings = self._semantics.of(ModuleEvidence), self._semantics.bindings
        if not isinstance(node, ast.Name) or not all(evidence.has_method(node, (name,)) for name in ("train", "eval")):
            return False
        calls = self._semantics.facts.calls.get(node.id, ())
        called = [call.func for call in calls if isinstance(call.func, ast.Name) and call.args]
        return any(set(bindings.reaching(each)) & set(bindings.reaching(node)) for each in called)

    def _is_asked_like_module(self, node: ast.expr) -> bool:
        """Whether a variable is asked for its parameters as well: of a class of another file that is one of modules, or of one
        that nobody knows.
        """
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        made = [each.value.func for each in bindings if isinstance(each.value, ast.Call) and not each.path]
        if self._semantics.elsewhere.is_in_project and any(map(self._is_of_other_class, made)):
            return False
        return self._semantics.of(ModuleEvidence).has_method(node, _ASKED_OF_MODULES)

    def _is_of_other_class(self, made: ast.expr) -> bool:
        """Whether a class of another file is called that is no module, as far as that file tells."""
        found = self._semantics.elsewhere.target(made)
        return isinstance(found, ClassElsewhere) and not self._semantics.elsewhere.lookup.is_module(found)

    def _handed(self, saved: ast.expr) -> list[ast.expr | None]:
        """What calls give for a parameter, or for the one that an attribute of the object is set to, and to nothing else."""
        if isinstance(saved, ast.Attribute):
            own = self._semantics.facts.self_class(saved.value)
            slots = self._semantics.facts.slots(own, saved.attr) if own is not None else []
            stores = [self._semantics.tree.parent(store) for slot in slots for store in slot.stores]
            match stores:
                case [ast.Assign(targets=[ast.Attribute()], value=ast.Name() as value)]:
                    return self._handed(value)
            return []
        bindings = self._semantics.bindings.reaching(saved) if isinstance(saved, ast.Name) else ()
        if len(bindings) != 1 or not isinstance(function := bindings[0].scope.node, FUNCTIONS):
            return []
        owner, parameter = self._semantics.tree.parent(function), bindings[0].node
        if function.name != "__init__" or not isinstance(owner, ast.ClassDef) or not isinstance(parameter, ast.arg):
            return self._semantics.inference.given(bindings[0])
        facts = self._semantics.facts
        making = (call for call in facts.calls.get(owner.name, ()) if facts.definition(call.func) is owner)
        return [facts.argument(call, function, parameter) for call in making]

    @staticmethod
    def _is_called_a_model(saved: ast.expr) -> bool:
        return _MODEL.fullmatch((dotted(saved) or "").rpartition(".")[2]) is not None

    def _has_method(self, saved: ast.expr, methods: Iterable[str]) -> bool:
        """Whether a method, such as modules have and few other callable things, is called on the same chain of names."""
        chain = dotted(saved)
        calls = (call.func for name in methods for call in self._semantics.facts.calls.get(name, ()))
        return chain is not None and any(
            isinstance(method, ast.Attribute) and dotted(method.value) == chain for method in calls
        )

    def _is_result_of_training(self, saved: ast.expr) -> bool:
        """Whether something comes from a method ``train`` or ``fit`` of what need not be a module."""
        bindings = self._semantics.bindings.reaching(saved) if isinstance(saved, ast.Name) else ()
        for binding in bindings:
            match binding.value:
                case ast.Call(func=ast.Attribute(attr="train" | "fit", value=owner)):
                    return self._semantics.kind(owner).definition is None
        return False

    def _is_compiled(self, saved: ast.expr) -> bool:
        """Whether a module is, as far as the file tells, one that carries its code with it."""
        calls = (part for part in self._semantics.of(Origins).of(saved) if isinstance(part, ast.Call))
        return any((self._semantics.qualified_name(call.func) or "").startswith(_COMPILED) for call in calls)
