"""What shows that ``x`` is a tensor where all that is known of it is how its ``x.data`` is used."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Basis, Binding, Form, Kind, Semantics, torch_api
from torchlint.semantics.apis.variable_wrappers import OwnWrappers
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import last_name, spoken_name
from torchlint.semantics.data.roles import Change, Means, Role
from torchlint.semantics.shapes.scalars import names_loss

_TELLING_METHODS = frozenset(
    {
        *("cpu", "cuda", "numpy", "clone", "float", "long", "view", "dim", "numel", "unsqueeze", "squeeze", "norm", "eq"),
        *("div", "mul", "masked_fill", "data_ptr", "new", "item", "type_as", "expand_as", "narrow", "contiguous", "topk"),
    }
)
"""Methods that show ``x`` to be a tensor where they are called on ``x.data``: those of nothing else that is called data."""
_TELLING_ARGUMENTS = frozenset(
    {"type_as", "copy_", "eq", "expand_as", "view_as", "masked_fill_", "add_", "sub_", "mul_", "register_buffer"}
)
"""Methods that show ``x`` to be a tensor where ``x.data`` is their argument."""
_OF_ITEMS = frozenset({"numpy", "cpu", "cuda", "numel", "unsqueeze", "contiguous", "expand_as", "type_as"})
"""Methods that show ``x`` to be a tensor where they are called on an item of ``x.data``."""
_PROBES = frozenset(
    f"torch.{name}" for name in ("is_tensor", "sparse_coo_tensor", "save", "from_numpy", "tensor", "as_tensor", "asarray")
)
"""Functions of torch that also take what is no tensor."""

_PICTURES = frozenset({"torchvision.utils.make_grid", "torchvision.utils.save_image"})

_CONTAINERS = re.compile(
    r"(data_?set|loader|train_?set|test_?set|val_?set|train_?data|test_?data|corpus|storage|batch|packed|response|request|node|elem"
    r"|^edges$|event|message|tree|field|vocab|buffer|memory|mnist|cifar|graph|store|frame|series|parser|args|config|cfg|hparams|"
    r"settings|^conf$|^opts?$|^options$)",
    re.IGNORECASE,
)
"""Names of unknown values that are known for a ``data`` attribute of their own."""
_KEYS = re.compile(r"(\w+_)?(key|name)", re.IGNORECASE)
"""What texts are called by which something is kept in a dictionary."""
_OF_SEQUENCES = frozenset({"batch_sizes", "sorted_indices", "unsorted_indices"})
"""What a packed sequence has besides its ``data``, and no tensor."""
_UNPACKING = frozenset({"pad_packed_sequence", "unpack_sequence", "unpad_sequence"})
"""Functions that are given packed sequences, and no tensors."""
_PARAMETERS = re.compile(r"(\w*_)?(params|parameters)")


class DataEvidence:
    """Tells from what is done with ``x.data`` whether ``x``, of which nothing is known, is a tensor."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._others: dict[Binding, bool] = {}

    def is_probed(self, node: ast.Attribute) -> bool:
        """Whether the code asks whether ``x`` has a ``data``, or of what type it is: a tensor would need no asking."""
        if self._is_argument_of(node, "builtins.isinstance"):
            return True
        return bool(self._probed) and ast.dump(node.value) in self._probed

    def is_of_sequence(self, node: ast.expr) -> bool:
        """Whether the code takes from ``node`` what only a packed sequence has, or makes another one of its ``data``."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return node in self._repacked or any(binding in self._sequences for binding in bindings)

    def is_of_image(self, kind: Kind) -> bool:
        """Whether a value may be an image of torchio, which has a ``data``: in a file with such, only what is made is known."""
        return self._semantics.words.speak_of("torchio") and (not kind.is_tensor or kind.basis is not Basis.MADE)

    @cached_property
    def _repacked(self) -> set[ast.AST]:
        """All that stands in calls that make packed sequences."""
        calls = (call for call in self._tree.of_type(ast.Call) if last_name(call.func) == "PackedSequence")
        return {part for call in calls for part in ast.walk(call)}

    @cached_property
    def _sequences(self) -> set[Binding]:
        """What gives names their values of which the code takes what only packed sequences have, or that it unpacks.

        So is what such a value is made of under the same name, ``x`` before ``x, _ = self.rnn(x)``, but where it is packed.
        """
        taken = [part.value for part in self._tree.of_type(ast.Attribute) if part.attr in _OF_SEQUENCES]
        for name in _UNPACKING:
            taken += (call.args[0] for call in self._semantics.facts.calls.get(name, ()) if call.args)
        found = set[Binding]()
        left = [each for each in taken if isinstance(each, ast.Name)]
        while left:
            for binding in self._semantics.bindings.reaching(left.pop()):
                if binding not in found:
                    found.add(binding)
                    left += self._sources(binding)
        return found

    def _sources(self, binding: Binding) -> list[ast.Name]:
        """The names that a call is given which binds its result, or the first part of it, to the same one: `x = net(x)`."""
        match binding:
            case Binding(node=ast.Name(id=name), form=Form.ASSIGNMENT, path=() | (0,), value=ast.Call() as call):
                if "pack" not in last_name(call.func).lower():
                    return [each for each in call.args if isinstance(each, ast.Name) and each.id == name]
        return []

    @cached_property
    def _probed(self) -> set[str]:
        """What the code asks for a ``data``."""
        return {
            ast.dump(call.args[0])
            for call in self._semantics.facts.calls.get("hasattr", ())
            if len(call.args) == 2 and isinstance(call.args[1], ast.Constant) and call.args[1].value == "data"
        }

    def shows_tensor(self, node: ast.Attribute, role: Role, change: Change[ast.expr] | None) -> bool:
        """Whether the use of ``node``, which is ``x.data``, shows ``x`` to be a tensor."""
        name = spoken_name(node.value)
        if self._semantics.facts.self_class(node.value) is not None or self._is_given_as_mapping(node.value):
            return False
        if _is_brought_to_host(node.value):
            return True
        parent = self._tree.parent(node)
        method = parent.attr if isinstance(parent, ast.Attribute) else ""
        if _CONTAINERS.search(name):
            return method in ("cpu", "cuda") and not name.startswith("packed") and self._is_called(parent)
        if role is Role.WRAPPED or names_loss(node.value) or self._is_loop_over_parameters(node.value):
            return True
        if change is not None and change.means in (Means.METHOD, Means.RESHAPED, Means.INITIALISER):
            return True
        is_shown = (
            (self._semantics.of(Backpropagated).name(node.value) and (not method or method in torch_api.TENSOR_ATTRIBUTES))
            or self._is_put_among_tensors(node, role, change)
            or self._has_item_of_tensor(node)
            or self._stands_beside_tensors(node)
        )
        return is_shown and not self._is_used_as_other(node.value)

    def _is_given_as_mapping(self, node: ast.expr) -> bool:
        """Whether a method gave a value of whose results the file elsewhere takes entries: ``net.scores(x)["logits"]``."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].path or not isinstance(bindings[0].value, ast.Call):
            return False
        return _spelled(bindings[0].value) in self._giving_mappings

    @cached_property
    def _giving_mappings(self) -> set[str]:
        """The calls of methods, as they are spelled, of whose results entries are taken by a text."""
        found = set[str]()
        for item in self._tree.of_type(ast.Subscript):
            match item:
                case ast.Subscript(value=ast.Name() as name, slice=ast.Constant(value=str())):
                    values = [each.value for each in self._semantics.bindings.reaching(name) if not each.path]
                    found.update(_spelled(value) for value in values if isinstance(value, ast.Call))
                case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=str())):
                    found.add(_spelled(call))
        return found - {""}

    def _has_item_of_tensor(self, node: ast.Attribute) -> bool:
        """Whether an item of ``node`` is what only a tensor has, ``x.data[0].numpy()``, or is a Variable's: ``action.data[0]``.

        An object of another library may have such a ``data`` as well, so the file must read no ``data`` but that of tensors.
        """
        if not self._takes_item(node):
            return False
        name = spoken_name(node.value)
        return all(other == name or is_tensor for other, is_tensor in self._owners_of_data)

    def _takes_item(self, node: ast.Attribute) -> bool:
        item: ast.expr = node
        indices = []
        while isinstance(parent := self._tree.parent(item), ast.Subscript) and parent.value is item:
            indices.append(parent.slice)
            item = parent
        method = parent.attr if isinstance(parent, ast.Attribute) and self._is_called(parent) else ""
        is_of_tensor = method in torch_api.TENSOR_ONLY or method in _OF_ITEMS
        is_of_variable = self._semantics.words.speak_of("Variable") and all(map(_selects, indices))
        return bool(indices) and (is_of_tensor or is_of_variable)

    @cached_property
    def _owners_of_data(self) -> set[tuple[str, bool]]:
        """What has a ``data`` in the file: by which name, and whether it can be taken for a tensor."""
        found = (node for node in self._tree.of_type(ast.Attribute) if node.attr == "data" and not self._names_api(node))
        return {(spoken_name(node.value), self._may_be_of_tensor(node)) for node in found}

    def _may_be_of_tensor(self, node: ast.Attribute) -> bool:
        kind = self._semantics.kind(node.value)
        if kind.known or isinstance(node.ctx, ast.Store):
            return kind.is_tensor
        if _CONTAINERS.search(spoken_name(node.value)) or self._is_used_as_other(node.value):
            return False
        return names_loss(node.value) or self._takes_item(node) or self._is_put_among_tensors(node, Role.READ, None)

    def _stands_beside_tensors(self, node: ast.Attribute) -> bool:
        """Whether a call gives ``x`` beside another value whose ``data`` is a tensor's: ``boxes, scores = net(images)``."""
        bindings = self._semantics.bindings.reaching(node.value) if isinstance(node.value, ast.Name) else ()
        if len(bindings) != 1 or not bindings[0].path or not isinstance(bindings[0].value, ast.Call):
            return False
        return bindings[0].value in self._giving_tensors

    @cached_property
    def _giving_tensors(self) -> set[ast.expr]:
        """The calls of which one result has a ``data`` that only a tensor has, in a file of torch 0.3."""
        found: set[ast.expr] = set()
        if not self._semantics.words.speak_of("Variable"):
            return found
        for node in self._tree.of_type(ast.Attribute):
            if node.attr != "data" or not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name):
                continue
            for binding in self._semantics.bindings.reaching(node.value):
                if binding.path and isinstance(binding.value, ast.Call) and self._leads_to_tensor(node):
                    found.add(binding.value)
        return found

    def _leads_to_tensor(self, node: ast.Attribute) -> bool:
        match self._tree.parent(node):
            case ast.Assign(targets=[ast.Name() as target]):
                return self._is_used_as_tensor(target)
        return self._is_put_among_tensors(node, Role.READ, None)

    def _names_api(self, node: ast.Attribute) -> bool:
        name = self._semantics.qualified_name(node)
        return name is not None and not name.startswith("builtins.")

    def _is_put_among_tensors(self, node: ast.Attribute, role: Role, change: Change[ast.expr] | None) -> bool:
        """Whether what is around ``node`` takes, gives or is a tensor."""
        parent = self._tree.parent(node)
        match parent:
            case ast.Attribute(attr="is_sparse" | "is_cuda"):
                return True
            case ast.Attribute(attr=method):
                return (method in _TELLING_METHODS or method in torch_api.TENSOR_ONLY) and self._is_called(parent)
            case ast.Call(func=function) if node is not function:
                is_wrapped = node in parent.args[:1] and self._semantics.of(OwnWrappers).called(parent) is not None
                return is_wrapped or self._takes_tensors(function)
            case ast.Subscript() if change is not None and change.means is Means.STORE:
                stored = getattr(self._tree.statement(node), "value", None)
                is_key = isinstance(parent.slice, ast.Name) and _KEYS.fullmatch(parent.slice.id) is not None
                return not is_key and isinstance(stored, ast.expr) and self._semantics.kind(stored).is_tensor
            case ast.BinOp(left=left, right=right):
                other = right if left is node else left
                return self._semantics.kind(other).is_tensor and not self._is_used_as_other(node.value)
            case ast.Assign(value=ast.Call(func=function)) if role is Role.REBIND:
                return (self._semantics.qualified_name(function) or "").startswith("torch.")
            case ast.Assign(value=ast.Attribute(value=other, attr="data")) if role is Role.REBIND:
                return self._semantics.kind(other).is_tensor
            case ast.AugAssign(value=ast.Attribute(value=other, attr="data")):
                return self._semantics.kind(other).is_tensor
            case ast.Assign(targets=[ast.Attribute(value=target, attr="data")]):
                return self._semantics.kind(target).is_tensor  # only a tensor can be stored there
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is node:
                return isinstance(node.value, ast.Name) and node.value.id == name and self._is_used_as_tensor(target)
        return False

    def _is_used_as_tensor(self, target: ast.Name) -> bool:
        """Whether what is done with a name from here on shows that it is a tensor's: ``x = x.data; x.unsqueeze(0)``."""
        binding = self._semantics.bindings.of(target)
        return binding is not None and self._semantics.inference.binding_kind(binding).is_tensor

    def _is_used_as_other(self, node: ast.expr) -> bool:
        """Whether the code takes from ``node`` what no tensor has: ``opt.data`` beside ``opt.epochs``.

        So is a sparse matrix of scipy known, whose ``nonzero`` gives rows and columns.
        """
        if isinstance(node, ast.Attribute):
            return (self._tree.enclosing_class(node), ast.unparse(node)) in self._other_attributes
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return any(map(self._is_bound_to_other, bindings))

    @cached_property
    def _other_attributes(self) -> set[tuple[ast.ClassDef | None, str]]:
        """The attributes of objects, by the class around, from which the code takes what no tensor has."""
        found = set()
        for node in self._tree.of_type(ast.Attribute):
            if isinstance(node.value, ast.Attribute) and node.attr not in torch_api.TENSOR_ATTRIBUTES:
                found.add((self._tree.enclosing_class(node), ast.unparse(node.value)))
        return found

    def _is_bound_to_other(self, binding: Binding) -> bool:
        if binding not in self._others:
            parents = (self._tree.parent(use) for use in binding.uses)
            self._others[binding] = any(
                isinstance(parent, ast.Attribute)
                and (parent.attr not in torch_api.TENSOR_ATTRIBUTES or self._is_unpacked(parent))
                for parent in parents
            )
        return self._others[binding]

    def _is_unpacked(self, attribute: ast.Attribute) -> bool:
        """Whether ``attribute`` is that of ``rows, columns = x.nonzero()``."""
        call = self._tree.parent(attribute)
        is_bare = isinstance(call, ast.Call) and call.func is attribute and not call.keywords
        statement = self._tree.parent(call) if call is not None and is_bare else None
        return attribute.attr == "nonzero" and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)

    def _is_called(self, method: ast.AST | None) -> bool:
        call = self._tree.parent(method) if method is not None else None
        return isinstance(call, ast.Call) and call.func is method

    def _is_argument_of(self, node: ast.expr, function: str) -> bool:
        call = self._tree.parent(node)
        return isinstance(call, ast.Call) and node in call.args and self._semantics.qualified_name(call.func) == function

    def _takes_tensors(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and function.attr in _TELLING_ARGUMENTS:
            return self._semantics.facts.self_class(function.value) is None
        name = self._semantics.qualified_name(function) or ""
        if name.endswith("Tensor") and name.startswith("torch."):
            return False  # which take arrays, those of scipy's matrices among them
        if name in _PICTURES:
            return True
        return name.startswith("torch.") and name not in _PROBES and not name.startswith(("torch.utils.", "torch.distributed."))

    def _is_loop_over_parameters(self, node: ast.expr) -> bool:
        """Whether ``node`` is the variable of a loop over something that is called ``params`` or the like."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(
            binding.form is Form.LOOP and binding.value is not None and _gives_parameters(binding.value, binding.path)
            for binding in bindings
        )


def _is_brought_to_host(node: ast.expr) -> bool:
    """Whether a value is what a call gave, moved: `model(x).cpu()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(), attr="cpu" | "cuda"), args=[], keywords=[]):
            return True
    return False


def _spelled(call: ast.Call) -> str:
    """A call of a method without the values of its arguments; empty for another."""
    if not isinstance(call.func, ast.Attribute):
        return ""
    return f"{ast.unparse(call.func)} {len(call.args)} {sorted(word.arg or '' for word in call.keywords)}"


def _selects(index: ast.expr) -> bool:
    """Whether an index is a number, or is for several axes."""
    return isinstance(index, ast.Tuple) or (isinstance(index, ast.Constant) and type(index.value) is int)


def _gives_parameters(iterable: ast.expr, path: tuple[int | None, ...]) -> bool:
    """Whether iterating gives parameters at ``path``, by the name of what is iterated over."""
    match iterable:
        case ast.Name() | ast.Attribute():
            return not path and _PARAMETERS.fullmatch(spoken_name(iterable)) is not None
        case ast.Call(func=ast.Name(id="zip"), args=arguments):
            index = path[0] if path else None
            return index is not None and 0 <= index < len(arguments) and _gives_parameters(arguments[index], path[1:])
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            return path[:1] == (1,) and _gives_parameters(inner, path[1:])
        case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed"), args=[inner]):
            return _gives_parameters(inner, path)
    return False
