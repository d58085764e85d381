"""Which values are what a program reads, and not what a model makes of it: batches of a data loader, images, gradients.

As `graphless` beside it, which asks it, this is a reader's judgement: what a loop over something called a loader gives has no
graph, unless the file asks for gradients of it.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import last_name, spoken_name

_LOADER = re.compile(r"loader|dataset|get_batch|batches$|data_?iter|train_?iter|val_?iter|test_?iter", re.IGNORECASE)
"""Parts of names of what gives batches."""
_INPUTS = re.compile(
    r"(images|imgs)(_[a-z0-9])?|inputs?|(real|input|orig|original|src|clean)_(images?|imgs?|inputs?)|(im|img|image)_?(clean|real|orig)"
    r"|real_([a-z]|data|samples?|batch)|input_[a-z]|(im|img|image)_(info|shape|hw)"
)
"""Names of what a model is given."""
_BATCH = re.compile(r"(\w+_)?(mini)?batch(_data)?")
"""What a function calls the batch that it is given: images, word ids, lengths."""
_GRADIENTS = re.compile(r"(^|_)(grads?|gradients?)($|_)")
_MOVES = frozenset(
    {"cpu", "cuda", "to", "type", "float", "double", "half", "long", "clone", "contiguous", "view", "squeeze", "unsqueeze"}
    | {"select", "narrow", "transpose", "permute", "t", "reshape", "flatten"}
)
MOVERS = re.compile(
    r"(to_?|make_|as_|get_)?(var|variable|cuda|gpu|device|contiguous)|(move|send|put|batch)_(to|on)_(device|gpu|cuda)",
    re.IGNORECASE,
)
"""What functions of many a program are called that move a batch, or wrapped it when there was something to wrap."""
_READERS = re.compile(
    r"_?(load|read|open|get)_?(img|image|imgs|images|picture|photo|frame|frames|video|audio|wav)(_\w+)?", re.I
)
"""What functions are called that read a file for the model."""
_DRAWS = re.compile(
    r"_?(get|next|fetch)_((next|random|train|val|valid|test|eval)_)?(mini)?batch(es)?|next_(train|val|test)", re.I
)
"""What methods of data sets are called that give a batch."""
_PREPARES = re.compile(
    r"_?(transform|augment|normali[sz]e|denormali[sz]e|resize|crop|flip|rotate|pad|jitter|preprocess)(_\w+)?", re.I
)
"""What is called that prepares a batch for the model, and has no weights."""
_PASSES = frozenset({"builtins.enumerate", "builtins.iter", "builtins.next", "builtins.list"})
_BARS = frozenset({"tqdm", "trange", "islice", "track"})
_JOINS = frozenset({"torch.cat", "torch.stack", "torch.concat"})
_ASKS = frozenset({"requires_grad", "requires_grad_", "retain_grad", "grad"})
_DEPTH = 5


class LikelyInputs:
    """Tells of values whether they are read and not computed."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_input(self, node: ast.expr) -> bool:
        """Whether a value is an item of a data loader, or called an input or a gradient, and nothing asks for its gradient."""
        name = spoken_name(node)
        if name in self._differentiated:
            return False
        if isinstance(node, ast.Call):
            return self._is_joined_gradient(node) or self._is_read(node, _DEPTH)
        is_called_so = _INPUTS.fullmatch(name.lower()) is not None and not self._is_computed(node)
        return is_called_so or self._is_gradient(node) or self._is_read(node, _DEPTH)

    def is_read(self, node: ast.expr) -> bool:
        """Whether a value is an item of a data loader or read of a file, moved at most, and nothing asks for its gradient."""
        return spoken_name(node) not in self._differentiated and self._is_read(node, _DEPTH)

    def _is_computed(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a name is given anything but arguments, items of loops and what moves make of such."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return any(
            each.form is Form.ASSIGNMENT and each.value is not None and not self._is_passed(each.value, depth)
            for each in bindings
        )

    def _is_passed(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is an input that was moved at most, or is read."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
            value = value.func.value
        if isinstance(value, ast.Name) and depth:
            return not self._is_computed(value, depth - 1)
        return isinstance(value, ast.Name) or self._is_read(value, depth)

    def _is_gradient(self, node: ast.expr) -> bool:
        """Whether a value is called a gradient, in a file that makes no graphs of gradients."""
        return _GRADIENTS.search(spoken_name(node)) is not None and not self._graphs_of_gradients

    def _is_joined_gradient(self, node: ast.Call) -> bool:
        match node:
            case ast.Call(func=function, args=[ast.Name() as parts, *_]):
                return self._semantics.qualified_name(function) in _JOINS and self._is_gradient(parts)
        return False

    @cached_property
    def _graphs_of_gradients(self) -> bool:
        """Whether the file asks for graphs of gradients that are kept: two passes, of which the second is back-propagated."""
        calls = [*self._semantics.facts.calls.get("grad", ()), *self._semantics.facts.calls.get("backward", ())]
        return any(word.arg == "create_graph" for call in calls for word in call.keywords)

    @cached_property
    def _differentiated(self) -> frozenset[str]:
        """Names of what the file asks gradients of."""
        attributes = self._semantics.tree.of_type(ast.Attribute)
        return frozenset(last_name(each.value) for each in attributes if each.attr in _ASKS)

    # --- loops over loaders ------------------------------------------------------------------------------------------

    def _is_read(self, node: ast.expr, depth: int) -> bool:
        """Whether a value is a batch of a loader, a part of one, or several of them behind one another."""
        if not depth:
            return False
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self._is_bound_to_read(each, depth - 1) for each in bindings)
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _MOVES:
                return self._is_read(value, depth)
            case ast.Call(func=function, args=[ast.Tuple(elts=parts) | ast.List(elts=parts), *_]):
                is_joined = self._semantics.qualified_name(function) in _JOINS
                return is_joined and all(self._is_read(part, depth - 1) for part in parts)
            case ast.Call(func=function, args=[inner, *_]) if self._semantics.qualified_name(function) == "builtins.next":
                return self.gives_batches(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr="next" | "__next__"), args=[]):
                return self.gives_batches(inner)
            case ast.Call(func=ast.Name() as function) if _READERS.fullmatch(function.id):
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if _DRAWS.fullmatch(method):
                return True
            case ast.Call(func=function, args=[inner, *_]) if _PREPARES.fullmatch(last_name(function)):
                return self._is_read(inner, depth - 1)
            case ast.Call(func=function, args=[inner]) if self._semantics.qualified_name(function) == "torch.autograd.Variable":
                return self._is_read(inner, depth)
            case ast.Call(func=function, args=[inner, *_]) if MOVERS.fullmatch(last_name(function)):
                return self._is_read(inner, depth)
            case ast.Subscript(value=ast.Name(id="state"), slice=ast.Constant(value="sample")):
                return self._semantics.words.speak_of("torchnet")  # what its engine hands to hooks
            case ast.Subscript(value=value):
                return self._is_read(value, depth)
            case ast.Attribute(value=ast.Name() as batch):  # `batch.src` of torchtext, `data.x` of a graph
                return self._is_item(batch)
        return False

    def _is_item(self, batch: ast.Name) -> bool:
        """Whether a name stands for what a loop over a loader gives, and for nothing else."""
        bindings = self._semantics.bindings.reaching(batch)
        return bool(bindings) and all(
            each.form is Form.LOOP
            and each.value is not None
            and (self.gives_batches(each.value) or self._is_walked(each, _DEPTH))
            for each in bindings
        )

    def _is_bound_to_read(self, binding: Binding, depth: int) -> bool:
        if binding.value is None:
            return False
        if binding.form is Form.LOOP:
            return self.gives_batches(binding.value) or self._is_walked(binding, depth) or self._is_given_inputs(binding)
        if binding.form is not Form.ASSIGNMENT:
            return False
        return self._is_read(binding.value, depth) or (bool(binding.path) and self._is_given_batch(binding.value))

    def _is_walked(self, binding: Binding, depth: int) -> bool:
        """Whether a loop goes through several things side by side, of which this one is read: ``zip(sources, guesses)``."""
        value, path = binding.value, list(binding.path)
        if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "builtins.enumerate" and value.args:
            value, path = value.args[0], path[1:]
        match value:
            case ast.Call(func=function, args=parts) if path and self._semantics.qualified_name(function) == "builtins.zip":
                place = path[0]
                if (
                    isinstance(place, int)
                    and 0 <= place < len(parts)
                    and not any(isinstance(one, ast.Starred) for one in parts)
                ):
                    return self.gives_batches(parts[place]) or self._is_read(parts[place], depth)
        return False

    def _is_given_inputs(self, binding: Binding) -> bool:
        """Whether a loop goes through what a function is given as its inputs."""
        value = binding.value
        if binding.path or not isinstance(value, ast.Name) or value.id not in ("input", "inputs"):
            return False  # `images` may be what a generator made, for a pool of them
        bindings = self._semantics.bindings.reaching(value)
        return bool(bindings) and all(each.form is Form.PARAMETER for each in bindings)

    def _is_given_batch(self, value: ast.expr) -> bool:
        """Whether a batch that a function is given is taken apart: ``src, lengths, target = batch``."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        is_named = isinstance(value, ast.Name) and _BATCH.fullmatch(value.id) is not None
        return is_named and bool(bindings) and all(each.form is Form.PARAMETER for each in bindings)

    def gives_batches(self, iterable: ast.expr) -> bool:
        """Whether a loop over something, which may be counted or shown as a bar, goes through the batches of a loader."""
        while (inner := self._counted(iterable)) is not None:
            iterable = inner
        match iterable:
            case ast.Call(func=ast.Attribute(value=loader, attr="__iter__"), args=[]):
                iterable = loader
        return _LOADER.search(spoken_name(iterable)) is not None

    def _counted(self, iterable: ast.expr) -> ast.expr | None:
        """What a loop goes through whose rounds are counted or shown as a bar, be that by a name: ``bar = tqdm(loader)``."""
        if isinstance(iterable, ast.Name):
            bindings = self._semantics.bindings.reaching(iterable)
            if len(bindings) != 1 or bindings[0].path or not isinstance(bindings[0].value, ast.Call):
                return None
            return bindings[0].value if last_name(bindings[0].value.func) in _BARS else None
        if not isinstance(iterable, ast.Call):
            return None
        name = self._semantics.qualified_name(iterable.func) or ""
        if name not in _PASSES and last_name(iterable.func) not in _BARS:
            return None
        given = [*iterable.args[:1], *(word.value for word in iterable.keywords if word.arg == "iterable")]
        return given[0] if given else None
