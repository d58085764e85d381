"""States of wrapped modules that are saved: their keys begin with what the wrapper calls the module within."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, dotted, given_to, last_name
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.wrapped_modules import WrappedModules, moved

Node = TypeVar("Node")

_PREFIXES = ("module.", "_orig_mod")
"""What is taken from the keys, by code that knows of them."""
_SAVING = re.compile(r"_?save(_|[A-Z]|\Z)|(^|_)save\Z|dump")
_LOADING = re.compile(r"(?<!down)load(?!er)|restore|resume|restart", re.IGNORECASE)
_COPIES = frozenset({"copy.deepcopy", "copy.copy", "builtins.dict", "collections.OrderedDict"})
_DEPTH = 4


@dataclass(frozen=True, eq=False, slots=True)
class WrappedState(Generic[Node]):
    """The state of a ``module`` that ``wrapper`` wraps, under the attribute ``within``; not ``always``, if only some code does.

    ``is_loaded_alike`` where the file loads states from files into a wrapped module, too, so that the keys fit there, or a
    script of the project that runs models does, under the same flag; ``is_put_back`` where this very state may be loaded into a
    module besides; ``is_loaded_bare`` where such a script loads states, by the key that this one has, and wraps none;
    ``is_ruled_out`` where a constant of the file says that the wrapper is not made.
    """

    module: Node
    wrapper: Node
    within: str
    always: bool
    is_loaded_alike: bool
    is_put_back: bool
    is_loaded_bare: bool
    is_ruled_out: bool


class WrappedStates:
    """Finds the calls of ``state_dict`` in a file that give such a state, and whose result is saved."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._saves = semantics.of(SavedFiles).saves
        self._loads = semantics.of(SavedFiles).loads
        self._wrapped = semantics.of(WrappedModules)

    @cached_property
    def found(self) -> dict[ast.Call, WrappedState[ast.expr]]:
        """The calls that give a state of a wrapped module, which is saved, unless the project knows of the prefixes."""
        if not self._wrapped.wrappings or self._knows_prefixes:
            return {}
        found: dict[ast.Call, WrappedState[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("state_dict", ()):
            if isinstance(call.func, ast.Attribute) and not call.args + call.keywords:
                module = moved(call.func.value)
                wrapped = self._wrapped.wrapping(module) if dotted(module) is not None else None
                if wrapped is not None and self._is_saved(call, 0) and not self._is_asked_for(module):
                    is_alike = self._loads_wrapped or self._is_loaded_alike_elsewhere(wrapped[0])
                    is_put_back, is_out = call in self._put_back, self._wrapped.is_ruled_out(wrapped[0])
                    found[call] = WrappedState(module, *wrapped, is_alike, is_put_back, self._is_loaded_bare(call), is_out)
        return {} if found and self._semantics.elsewhere.speaks_of("prefixes") else found

    def _is_loaded_bare(self, state: ast.Call) -> bool:
        """Whether a script of the project that wraps nothing loads states, and not only what is saved beside this one."""
        topic = "bare loads"
        match self._tree.parent(state):
            case ast.Dict(keys=keys, values=values):
                own = values.index(state)
                ordered = [keys[own], *keys[:own], *keys[own + 1 :]]
                words = [key.value for key in ordered if isinstance(key, ast.Constant) and isinstance(key.value, str)]
                topic += ": " + "|".join(words) if len(words) == len(keys) > 1 else ""
        return self._semantics.elsewhere.speaks_of(topic) is True

    def _is_loaded_alike_elsewhere(self, wrapper: ast.Call) -> bool:
        """Whether a script of the project loads states into what it wraps under the flag that a wrapper stands under here.

        The flag is one of the project, an option or an imported name: what the machine says may be otherwise the next time.
        Or both scripts do so in any case.
        """
        if isinstance(self._tree.parent(self._tree.statement(wrapper)), ast.Module):
            return self._semantics.elsewhere.speaks_of("wrapped loads: ") is True
        around = next((node for node in self._tree.ancestors(wrapper) if isinstance(node, (ast.If, *FUNCTIONS))), None)
        if not isinstance(around, ast.If) or not self._tree.inside(wrapper, around) or around.orelse:
            return False
        flag = around.test
        is_flag = isinstance(flag, ast.Attribute) or (
            isinstance(flag, ast.Name)
            and all(binding.form is Form.IMPORT for binding in self._semantics.bindings.reaching(flag) or (None,) if binding)
        )
        return is_flag and self._semantics.elsewhere.speaks_of(f"wrapped loads: {ast.unparse(flag)}") is True

    @cached_property
    def _knows_prefixes(self) -> bool:
        """Whether the file takes the prefixes from keys, by their text or length, or adds them."""
        for part in self._tree.of_type(ast.Slice):
            if isinstance(part.lower, ast.Constant) and part.lower.value in (7, 10) and part.upper is None:
                return True
        texts = (node.value for node in self._tree.of_type(ast.Constant) if isinstance(node.value, str))
        return any(text.startswith(_PREFIXES) or text == "module" for text in texts)

    @cached_property
    def _loads_wrapped(self) -> bool:
        """Whether a state from elsewhere is loaded into a module that is wrapped, here or by a function that is called so."""
        calls = self._semantics.facts.calls
        into = [call.func.value for call in self._restoring if isinstance(call.func, ast.Attribute) and self._is_foreign(call)]
        for name, loading in calls.items():
            if name != "load_state_dict" and _LOADING.search(name):
                into += [value for call in loading for value in given_to(call)]
        return any(dotted(module) is not None and self._is_wrapped_at(module) for module in into)

    def _is_wrapped_at(self, module: ast.expr) -> bool:
        """Whether a module may be wrapped where it is named, and not only behind that."""
        wrapped = self._wrapped.wrapping(module)
        if wrapped is None:
            return False
        flow, wrapper = self._semantics.control_flow, wrapped[0]
        return flow.scope(wrapper) is not flow.scope(module) or flow.may_follow(wrapper, module)

    @cached_property
    def _restoring(self) -> list[ast.Call]:
        return self._semantics.facts.calls.get("load_state_dict", [])

    def _is_foreign(self, restoring: ast.Call) -> bool:
        """Whether a state may be another than one that the run itself has kept in memory."""
        sources = self._semantics.of(Origins).of(*restoring.args[:1])
        return not self._states & sources or bool(self._loads & sources)

    @cached_property
    def _put_back(self) -> set[ast.Call]:
        """The states that a module is given again without a file."""
        given = [call.args[0] for call in self._restoring if call.args]
        return self._states & self._semantics.of(Origins).of(*given)

    @cached_property
    def _states(self) -> set[ast.Call]:
        return set(self._semantics.facts.calls.get("state_dict", ()))

    def _is_asked_for(self, module: ast.expr) -> bool:
        """Whether code reads the module within, or asks whether there is one."""
        name = last_name(module)
        place = self._tree.function(module)
        knows = any(last_name(node.value) == name and self._tree.function(node) is place for node in self._within)
        return knows or name in self._tested

    @cached_property
    def _within(self) -> list[ast.Attribute]:
        return [
            node
            for node in self._tree.of_type(ast.Attribute)
            if node.attr in ("module", "_orig_mod")
            and isinstance(self._tree.parent(node), ast.Attribute)
            and isinstance(call := self._tree.parent(self._tree.parent(node) or node), ast.Call)
            and last_name(call.func) == "state_dict"
        ]

    @cached_property
    def _tested(self) -> set[str]:
        """The names of what ``isinstance`` or ``hasattr`` is asked of."""
        calls = [*self._semantics.facts.calls.get("isinstance", ()), *self._semantics.facts.calls.get("hasattr", ())]
        return {last_name(call.args[0]) for call in calls if call.args}

    # --- what becomes of it ------------------------------------------------------------------------------------------

    def _is_saved(self, value: ast.expr, depth: int) -> bool:
        """Whether a value, or a dict that it is put into, is given to what saves."""
        current: ast.AST = value
        while (parent := self._tree.parent(current)) is not None and depth < _DEPTH:
            match parent:
                case ast.keyword() | ast.Dict() | ast.List() | ast.Tuple() | ast.IfExp():
                    current = parent
                case ast.Call() if parent in self._saves or self._saves_by_name(parent):
                    return True
                case ast.Call() if self._semantics.qualified_name(parent.func) in _COPIES:
                    current = parent
                case ast.Return():
                    function = self._tree.function(parent)
                    sites = self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else []
                    return any(self._is_saved(site, depth + 1) for site in sites)
                case ast.Assign(targets=[target]):
                    name = target.value if isinstance(target, ast.Subscript) else target
                    return isinstance(name, ast.Name) and any(
                        self._is_saved(use, depth + 1) for use in self._later_uses(name, target)
                    )
                case _:
                    return False
        return False

    def _later_uses(self, name: ast.Name, target: ast.expr) -> list[ast.Name]:
        bindings = [self._semantics.bindings.of(name)] if name is target else self._semantics.bindings.reaching(name)
        return [use for binding in bindings if binding is not None for use in binding.uses if use is not name]

    def _saves_by_name(self, call: ast.Call) -> bool:
        """Whether a function saves what it is given, by its name: ``save_checkpoint(…)``, ``accelerator.save(…)``."""
        return _SAVING.match(last_name(call.func)) is not None
