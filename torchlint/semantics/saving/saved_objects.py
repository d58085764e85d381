"""Checkpoints that a file saves with objects of classes in them: options, schedulers, numbers of NumPy."""

from __future__ import annotations

import ast
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, given_to
from torchlint.semantics.summaries.lookup import ClassElsewhere

_SAVING = re.compile(r"(?:^|_)save|[a-z]Save")
"""What functions are called that write a checkpoint to a file, as those of torch's examples: ``save_on_master``."""
_OTHER_FORMATS = frozenset({"savemat", "savetxt", "savez", "savez_compressed", "savefig", "save_json", "save_yaml"})
_PARSED = frozenset({"parse_args", "parse_intermixed_args"})
_PLAIN = (dict, OrderedDict, Counter, list, tuple, set, str, bytes, bytearray, int, float, complex, bool)
LOADED_ATTRIBUTES = torch_api.TENSOR_ATTRIBUTES.union(*map(dir, _PLAIN)) | {
    "index",
    "type",
    "itemsize",
    "is_floating_point",
    "get_state",
}
"""The attributes of what torch loads by default: tensors, plain data, devices and dtypes, generators."""
_FIGURES = ("mean", "sum", "median", "std", "average", "array", "zeros", "max", "min", "nanmean", "sqrt", "argmax", "argmin")
_NUMPY = frozenset(f"numpy.{name}" for name in _FIGURES)
"""Functions of NumPy whose results are its own arrays and numbers; torch refuses both."""
_METHODS = frozenset({"mean", "sum", "std", "max", "min"})
"""Methods of arrays that give such a number."""

_DEPTH = 3
"""Through so many functions of the file a value is followed to what it is."""


@dataclass(eq=False, slots=True)
class Checkpoint:
    """A dict that is saved with the state of something: its ``keys``, and the ``objects`` in it that torch refuses to load.

    One that ``is_plain`` holds states, tensors and plain data for certain.
    """

    keys: set[str] = field(default_factory=set)
    objects: list[ast.expr] = field(default_factory=list)
    is_plain: bool = True


class SavedObjects:
    """Finds the checkpoints that a file saves, and what of theirs is no tensor and no plain data."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def among(self, keys: set[str]) -> ast.expr | None:
        """An object that stands in every checkpoint with these keys that the file saves; ``None`` if there are no such ones."""
        found = [each for each in self._checkpoints if keys <= each.keys]
        return found[0].objects[0] if found and all(each.objects for each in found) else None

    def are_beside_state(self, keys: set[str]) -> bool:
        """Whether the file saves checkpoints with these keys, and the state of something in all that it saves with one."""
        return any(keys <= each.keys for each in self._checkpoints) and not keys & self._stateless

    def are_of_plain(self, keys: set[str]) -> bool:
        """Whether the file saves checkpoints with these keys, and nothing but states and plain data in any of those."""
        found = [each for each in self._checkpoints if keys <= each.keys]
        return bool(found) and all(each.is_plain for each in found)

    @cached_property
    def _stateless(self) -> set[str]:
        """The keys of what the file saves that is no checkpoint, or is not written out."""
        found: set[str] = set()
        for value, name in self._saved():
            if isinstance(value, ast.Dict) and self._checkpoint(value, name) is None:
                found |= {each.value for each in value.keys if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        return found

    @cached_property
    def _checkpoints(self) -> list[Checkpoint]:
        found = (self._checkpoint(value, name) for value, name in self._saved())
        return [each for each in found if each is not None]

    def _saved(self) -> Iterator[tuple[ast.expr, ast.Name | None]]:
        """The displays of dicts that are given to what saves, with the name that they have where they are complete."""
        for name, calls in self._semantics.facts.calls.items():
            if name in _OTHER_FORMATS or not _SAVING.search(name):
                continue
            for call in calls:
                for given in given_to(call):
                    saved = self._written_out(given)
                    returned = self._returned(saved[0])
                    yield self._written_out(returned) if returned is not None else saved

    def _written_out(self, value: ast.expr) -> tuple[ast.expr, ast.Name | None]:
        """What a name stands for that is assigned once, with the name; all else as it is."""
        written = self._semantics.bindings.assigned(value)
        return (written, value) if written is not None and isinstance(value, ast.Name) else (value, None)

    def _returned(self, value: ast.expr) -> ast.expr | None:
        """What a function of the file always returns that makes what is saved: ``torch.save(self.checkpoint(), path)``."""
        function = self._semantics.inference.call_graph.called(value) if isinstance(value, ast.Call) else None
        returned = self._semantics.facts.returned(function) if function is not None and function.name != "__init__" else []
        return returned[0] if len(returned) == 1 else None

    def _checkpoint(self, display: ast.expr, name: ast.Name | None) -> Checkpoint | None:
        """The checkpoint that a display writes out; ``None`` for what is none: nothing in it is the state of something."""
        match display:
            case ast.Dict(keys=keys, values=values):
                entries = list(zip(keys, values))
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
                entries = [(ast.Constant(word.arg), word.value) for word in words]
            case _:
                return None
        if name is not None:
            entries += self._stored(name)
        found = Checkpoint()
        for key, value in entries:
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return None
            found.keys.add(key.value)
            if self._is_refused(value):
                found.objects.append(value)
            found.is_plain = found.is_plain and self._is_plain(value)
        return found if any(_is_state(value) for _, value in entries) else None

    def _stored(self, name: ast.Name) -> Iterator[tuple[ast.expr, ast.expr]]:
        """What is put into a dict above the place where a name has it."""
        for use in self._semantics.bindings.reaching(name)[0].uses:
            match self._tree.parent(use):
                case ast.Subscript(value=owner, slice=key, ctx=ast.Store()) as item if owner is use:
                    statement = self._tree.parent(item)
                    if isinstance(statement, ast.Assign) and self._semantics.control_flow.may_follow(use, name):
                        yield key, statement.value

    # --- plain data --------------------------------------------------------------------------------------------------

    def _is_plain(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value is a state, a tensor or plain data for certain, and no number of NumPy's."""
        match value:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Call(func=ast.Name(id="int" | "float" | "bool" | "str" | "len")):
                return True
            case ast.Call(func=ast.Attribute(attr="state_dict" | "tolist", value=_)):
                return True
            case ast.Call(func=ast.Attribute(attr="item", value=owner)):
                return self._semantics.kind(owner).is_tensor
            case ast.BinOp(left=left, right=right):
                return self._is_plain(left, depth) and self._is_plain(right, depth)
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return all(self._is_plain(each, depth) for each in values)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings and depth) and all(self._binds_plain(each, depth) for each in bindings)
        return _is_state(value) or self._semantics.kind(value).is_tensor

    def _binds_plain(self, binding: Binding, depth: int) -> bool:
        match binding.form, binding.value:
            case Form.LOOP, ast.Call(func=ast.Name(id="range")):
                return True
            case Form.ASSIGNMENT, ast.expr() as value if not binding.path:
                return self._is_plain(value, depth - 1)
        return False

    # --- objects -----------------------------------------------------------------------------------------------------

    def _is_refused(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value is surely neither a tensor nor plain data."""
        if self._is_of_numpy(value, depth) or self._makes_object(value):
            return True
        if not isinstance(value, (ast.Name, ast.Attribute)):
            return False
        kind = self._semantics.kind(value)
        if kind.type in (Type.OPTIMIZER, Type.SCHEDULER):
            return True
        if isinstance(value, ast.Attribute):
            owner = self._semantics.facts.self_class(value.value)
            slots = self._semantics.facts.slots(owner, value.attr) if owner is not None else []
            uses = [use for slot in slots for use in slot.uses]
            stores = [store for slot in slots for store in slot.stores if not self._is_put_back(store)]
            made = [parent.value for store in stores if isinstance(parent := self._tree.parent(store), ast.Assign)]
            is_object = any(map(self._is_used_as_object, uses)) or any(map(self._makes_object, made))
            return len(slots) == 1 and len(stores) == 1 and is_object
        bindings = self._semantics.bindings.reaching(value)
        return bool(bindings) and all(self._binds_object(each, depth) for each in bindings)

    def _is_put_back(self, store: ast.Attribute) -> bool:
        """Whether an attribute is given an entry of a checkpoint: ``self.logger = checkpoint["logger"]``."""
        match self._tree.parent(store):
            case ast.Assign(value=ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str()))):
                return True
        return False

    def _binds_object(self, binding: Binding, depth: int) -> bool:
        """Whether a name has options that were parsed, a number of NumPy's, or what is used as only objects are."""
        if binding.form not in (Form.ASSIGNMENT, Form.PARAMETER):
            return False
        if any(map(self._is_used_as_object, binding.uses)):
            return True
        if binding.form is Form.PARAMETER:
            given = self._semantics.inference.given(binding)
            return bool(given and depth) and all(each is not None and self._is_refused(each, depth - 1) for each in given)
        if not isinstance(binding.value, ast.Call) or binding.path:
            return False
        function = binding.value.func
        return self._makes_object(binding.value) or (isinstance(function, ast.Attribute) and function.attr in _PARSED)

    def _makes_object(self, value: ast.expr) -> bool:
        """Whether a value is made by calling a class of the file, or of another file of the project."""
        if not isinstance(value, ast.Call):
            return False
        definition = self._semantics.facts.definition(value.func)
        if isinstance(definition, ast.ClassDef):
            return _makes_own(definition)
        return isinstance(self._semantics.elsewhere.target(value.func), ClassElsewhere)

    def _is_of_numpy(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is an array or a number of NumPy's, or becomes one where it was a plain number at the start."""
        match value:
            case ast.Call(func=ast.Name(id="max" | "min"), args=[_, _]):
                return depth > 0 and any(self._is_of_numpy(each, depth - 1) for each in value.args)
            case ast.Call(func=ast.Name(id="round"), args=[rounded, _]):
                return self._is_of_numpy(rounded, depth)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _METHODS:
                is_array = self._semantics.kind(owner).type is Type.ARRAY or self._is_called_of_numpy(owner)
                return is_array or self._is_called_of_numpy(value)
            case ast.Call():
                return self._is_called_of_numpy(value) or self._returns_numpy(value, (), depth)
            case ast.BinOp(left=left, right=right):
                both = (left, right)
                return any(self._is_of_numpy(each, depth) for each in both) and not any(map(self._may_be_tensor, both))
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(value)
                if any(each.form is not Form.ASSIGNMENT or each.value is None for each in bindings):
                    return False
                whole = [each.value for each in bindings if each.value is not None and not each.path]
                parts = [each for each in bindings if each.path]
                if not all(
                    isinstance(each.value, ast.Call) and self._returns_numpy(each.value, each.path, depth) for each in parts
                ):
                    return False
                return self._is_one_of_numpy(whole, depth - 1) if whole else bool(parts)
            case ast.Attribute(value=owner, attr=name) if (
                depth and (own := self._semantics.facts.self_class(owner)) is not None
            ):
                slots = self._semantics.facts.slots(own, name)
                stores = [self._tree.parent(each) for slot in slots for each in slot.stores if not self._is_put_back(each)]
                values = [each.value for each in stores if isinstance(each, ast.Assign)]
                is_seen = len(values) == len(stores) and not any(slot.class_values for slot in slots)
                return is_seen and self._is_one_of_numpy(values, depth - 1)
        return False

    def _is_one_of_numpy(self, values: list[ast.expr], depth: int) -> bool:
        """Whether some values are of NumPy, but for numbers to start from, which may be in a file."""
        left = [each for each in values if not _is_number(each) and not isinstance(each, ast.Subscript)]
        return bool(left) and depth >= 0 and all(self._is_of_numpy(each, depth) for each in left)

    def _is_called_of_numpy(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and (self._semantics.qualified_name(value.func) or "") in _NUMPY

    def _returns_numpy(self, call: ast.Call, path: tuple[int | None, ...], depth: int) -> bool:
        """Whether a function of the file returns a number of NumPy's, or has one in that place of what it returns."""
        function = self._semantics.inference.call_graph.called(call) if depth else None
        if function is None or function.name == "__init__":
            return False
        returned = self._semantics.facts.returned(function)
        for index in path:
            if index is None:
                return False
            parts = [each.elts[index : index + 1] if isinstance(each, ast.Tuple) else [] for each in returned]
            returned = [part[0] if part else None for part in parts]
        return bool(returned) and all(each is not None and self._is_of_numpy(each, depth - 1) for each in returned)

    def _may_be_tensor(self, value: ast.expr) -> bool:
        return self._semantics.kind(value).is_tensor

    def _is_used_as_object(self, use: ast.expr) -> bool:
        """Whether an attribute is read that no tensor has, and no plain data."""
        parent = self._tree.parent(use)
        if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
            return False
        return parent.attr not in LOADED_ATTRIBUTES


def _is_number(value: ast.expr) -> bool:
    """Whether a number is written out, with its sign, or infinity."""
    match value:
        case ast.UnaryOp(operand=inner):
            return _is_number(inner)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()]) | ast.Attribute(attr="inf"):
            return True
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _is_state(value: ast.expr) -> bool:
    """Whether the state of something is taken: ``model.state_dict()``, also under a condition, or by a name that says so."""
    if isinstance(value, ast.IfExp):
        return _is_state(value.body)
    if isinstance(value, ast.Name):
        return "state_dict" in value.id
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict"


def _makes_own(definition: ast.ClassDef) -> bool:
    """Whether calling a class makes an object of it: neither ``__new__`` nor a metaclass may give something else."""
    methods = {each.name for each in definition.body if isinstance(each, FUNCTIONS)}
    return "__new__" not in methods and "__reduce__" not in methods and not definition.keywords
