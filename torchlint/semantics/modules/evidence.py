"""Whether something of unknown kind is a module all the same: by what the file does with it, and where it is taken from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.kinds.kind import Basis, Type

_CALLED_ON_MODULES = ("parameters", "named_parameters", "eval", "train", "children", "modules", "load_state_dict")
_SET_ON_EITHER = frozenset({"requires_grad", "requires_grad_"})
"""What makes a value a tensor, but may as well be set on a module."""
_PARTS_OF_VISION_MODELS = frozenset(
    {
        *("features", "classifier", "fc", "layer1", "layer2", "layer3", "layer4", "conv1", "bn1", "AuxLogits", "avgpool"),
        *("backbone", "head", "heads", "rpn", "roi_heads", "transform", "encoder", "conv_proj", "stages", "body", "fpn"),
    }
)
_PARTS = re.compile(
    r"(\w*_)?(backbone|encoder|decoder|classifier|net|network|model|bert|roberta|embeddings|transformer|generator|discriminator)"
)
"""What parts of modules are called that are modules themselves, and never parameters."""


class ModuleEvidence:
    """Looks for signs that a value of unknown kind is a module."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._answers: dict[ast.expr, bool] = {}

    def is_module(self, node: ast.expr) -> bool:
        """Whether ``node`` is a module: known to be one, used as one elsewhere in the file, or a part of one."""
        kind = self._semantics.kind(node)
        if kind.type is Type.MODULE:
            return True
        if kind.type not in (Type.UNKNOWN, Type.NONE) and not (kind.basis is Basis.READ and kind.used in _SET_ON_EITHER):
            return False
        if node not in self._answers:
            self._answers[node] = False  # an alias of itself is none
            self._answers[node] = (
                self._is_used_as_module(node) or self._is_part_of_module(node) or self._is_alias_of_module(node)
            )
        return self._answers[node]

    def _is_used_as_module(self, node: ast.expr) -> bool:
        """Whether the same chain of names is called, or a method of modules on it."""
        chain = dotted(node)
        if chain is None:
            return False
        calls = self._semantics.facts.calls
        methods = (call.func for name in _CALLED_ON_MODULES for call in calls.get(name, ()))
        receivers = (method.value for method in methods if isinstance(method, ast.Attribute))
        functions = (call.func for call in calls.get(chain.rpartition(".")[2], ()))
        return any(dotted(other) == chain and self._same_root(node, other) for other in (*receivers, *functions))

    def has_method(self, node: ast.expr, methods: Iterable[str]) -> bool:
        """Whether one of some methods is called on the same chain of names."""
        chain = dotted(node)
        calls = (call.func for name in methods for call in self._semantics.facts.calls.get(name, ()))
        receivers = (method.value for method in calls if isinstance(method, ast.Attribute))
        return chain is not None and any(dotted(each) == chain and self._same_root(node, each) for each in receivers)

    def _same_root(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether the names that two chains start with stand for the same thing."""
        first, second = _root(one), _root(other)
        own_class = self._semantics.facts.self_class(first)
        if own_class is not None:
            return self._semantics.facts.self_class(second) is own_class
        bindings = self._semantics.bindings.reaching(first)
        return bool(set(bindings) & set(self._semantics.bindings.reaching(second)))

    def _is_part_of_module(self, node: ast.expr) -> bool:
        match node:
            case ast.Attribute(value=value, attr=name):
                base = self._semantics.kind(value)
                if base.name.startswith("torchvision.models.") and name in _PARTS_OF_VISION_MODELS:
                    return True
                return _PARTS.fullmatch(name) is not None and self.is_module(value)
            case ast.Subscript(value=value):
                return self.is_module(value)
        return False

    def _is_alias_of_module(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(node)
        if len(bindings) != 1:
            return False
        match bindings[0].value, bindings[0].path:
            case ast.Call(func=ast.Attribute(attr="eval" | "train"), args=[], keywords=[]), ():
                return True  # `model = load(path).eval()`: of modules, they return the module itself
            case (ast.Call(func=ast.Attribute(attr="values", value=ast.Attribute(attr="_modules"))), ()) | (
                ast.Call(func=ast.Attribute(attr="items", value=ast.Attribute(attr="_modules"))),
                (1,),
            ):
                return True
        return any(self.is_module(source) for source in _sources(bindings[0]))


def _sources(binding: Binding) -> Iterator[ast.expr]:
    """What a name is another name for, or the container that it is an item of."""
    match binding.form, binding.value, binding.path:
        case Form.ASSIGNMENT | Form.LOOP, (ast.Name() | ast.Attribute() | ast.Subscript()) as value, ():
            yield value
        case Form.LOOP, ast.Call(func=ast.Name(id="enumerate"), args=[value, *_]), (1,):
            yield value


def _root(node: ast.expr) -> ast.Name:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node
