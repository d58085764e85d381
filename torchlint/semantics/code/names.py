"""What a name or a chain of attributes refers to, as the dotted name of the API it was imported from."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import cached_property

from torchlint.semantics import torch_api
from torchlint.semantics.code.bindings import Binding, Bindings, Form
from torchlint.semantics.code.tree import Tree

CONVENTIONS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "autograd": "torch.autograd",
    "Variable": "torch.autograd.Variable",
    "DataLoader": "torch.utils.data.DataLoader",
    "np": "numpy",
    "numpy": "numpy",
    "models": "torchvision.models",
}
"""What the field means by a name that the file does not bind: a snippet, or a notebook's cell without its imports."""

_OF_VARIABLE = frozenset({"data", "requires_grad", "volatile", None})
"""The keywords of torch's `Variable`, and what is unpacked."""
_NO_TENSORS = (ast.JoinedStr, ast.Lambda, ast.Dict)
_HAVE_VARIABLE = frozenset(
    {
        *(
            "tensorflow",
            "keras",
            "chainer",
            "mxnet",
            "theano",
            "tkinter",
            "Tkinter",
            "sympy",
            "cntk",
            "paddle",
            "autograd",
            "jax",
            "flax",
        ),
        *(
            "pgmpy",
            "cvxpy",
            "pulp",
            "casadi",
            "constraint",
            "ortools",
            "xarray",
            "netCDF4",
            "Orange",
            "traits",
            "dedupe",
            "minizinc",
        ),
    }
)

_SHORTER = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.optim.", "torch.optim."),
    ("torch.utils.data.", "torch.utils.data."),
)
_MOVED = {
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.tensor.Tensor": "torch.Tensor",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.modules.Module": "torch.nn.Module",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.autograd.grad_mode.inference_mode": "torch.inference_mode",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.nn.backends.thnn.backend": "torch.nn.functional",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
}


def canonical(name: str) -> str:
    """The shortest public name of an API that can be imported under several: ``torch.nn.modules.loss.L1Loss`` and so on."""
    if name in _MOVED:
        return _MOVED[name]
    for prefix, shorter in _SHORTER:
        if name.startswith(prefix):
            parts = name[len(prefix) :].split(".")
            if len(parts) == 2 and parts[0].islower() and parts[1][:1].isupper() and parts[0] != "lr_scheduler":
                return shorter + parts[1]
    return name


_MOST_PARTS = 64
"""A longer chain of attributes is the name of nothing."""


def _parts(node: ast.expr) -> tuple[ast.expr, list[ast.Attribute]]:
    """What a chain of attributes starts with, and the attributes from the last to the first; of a long chain, its end only."""
    chain: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute) and len(chain) < _MOST_PARTS:
        chain.append(node)
        node = node.value
    return node, chain


class Names:
    """Resolves names through imports, aliases and conventions."""

    def __init__(self, tree: Tree, bindings: Bindings) -> None:
        self._tree = tree
        self._bindings = bindings
        self._resolved: dict[ast.AST, str | None] = {}
        self.starred: Callable[[str], str | None] = lambda name: None
        """The full name of an API that the file has by importing everything of another file of the project."""

    @cached_property
    def imported_libraries(self) -> frozenset[str]:
        """The top packages that the file imports; ``torch``, too, where it is taken for granted."""
        found = {alias.name.partition(".")[0] for node in self._tree.of_type(ast.Import) for alias in node.names}
        for node in self._tree.of_type(ast.ImportFrom):
            if node.module and not node.level:
                found.add(node.module.partition(".")[0])
        if any(name.id == "torch" for name in self._tree.of_type(ast.Name)):
            found.add("torch")
        return frozenset(found)

    def qualified(self, node: ast.AST) -> str | None:
        """The dotted name that ``node`` refers to, such as ``torch.nn.functional.relu``, ``numpy.array`` or ``builtins.sum``.

        A name from a relative import keeps its dots. ``None`` where ``node`` is no such chain or its start is a local value.
        """
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        if node not in self._resolved:
            self._resolve_from(node)
        return self._resolved[node]

    def _resolve_from(self, node: ast.Name | ast.Attribute) -> None:
        """Resolves ``node``, and before it what it is an alias of: names may be aliases of aliases thousands of times over."""
        pending = [(node, self._aliased(node))]
        self._resolved[node] = None  # an alias of itself resolves to nothing
        while pending:
            current, aliased = pending[-1]
            ahead = next((each for each in aliased if each not in self._resolved), None)
            if ahead is not None:
                self._resolved[ahead] = None
                pending.append((ahead, self._aliased(ahead)))
            else:
                self._resolved[current] = self._resolve(current)
                pending.pop()

    def _aliased(self, node: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
        """What the name that ``node`` starts with may be another name for."""
        base, _ = _parts(node)
        for binding in self._bindings.reaching(base) if isinstance(base, ast.Name) else ():
            if binding.form is Form.ASSIGNMENT and not binding.path and isinstance(binding.value, (ast.Name, ast.Attribute)):
                yield binding.value

    def _resolve(self, node: ast.Name | ast.Attribute) -> str | None:
        base, chain = _parts(node)
        if isinstance(base, ast.Attribute):
            return None
        start = self._name(base) if isinstance(base, ast.Name) else None
        if start is None:
            self._resolved.update(dict.fromkeys(chain))  # so that no part of a long chain is looked at again
            return None
        return canonical(".".join((start, *(part.attr for part in reversed(chain)))))

    def _name(self, name: ast.Name) -> str | None:
        bindings = self._bindings.reaching(name)
        if not bindings:
            is_other = name.id == "Variable" and self._is_other_variable(name)
            if is_other:
                return "builtins.Variable"
            meant = self._unbound(name.id)
            return (self._starred(name) or meant) if meant == f"builtins.{name.id}" else meant
        found = [self._binding(binding) for binding in bindings]
        known = [target for target in found if target]
        if len(known) == len(found) and len(set(known)) == 1:
            return known[0]
        imported = [target for target, binding in zip(found, bindings) if target and binding.form is Form.IMPORT]
        others = [binding for binding in bindings if binding.form is not Form.IMPORT]
        if imported and all(_is_missing(binding) for binding in others):
            return next((target for target in imported if target.startswith("torch")), imported[0])
        return None

    def _binding(self, binding: Binding) -> str | None:
        if binding.form is Form.IMPORT:
            return canonical(binding.imported)
        if binding.form is Form.ASSIGNMENT and not binding.path and isinstance(binding.value, (ast.Name, ast.Attribute)):
            return self.qualified(binding.value)
        module = imported_by_call(binding) if not binding.path else _optional(binding)
        return canonical(module) if module is not None else None

    def _unbound(self, name: str) -> str | None:
        for module in self._star_imports:
            if f"{module}.{name}" in _STAR_NAMES or (module, name) == ("torch.autograd", "Variable"):
                return f"{module}.{name}"
        if name in CONVENTIONS and not (name == "Variable" and self._uses_another_framework):
            return CONVENTIONS[name]
        return f"builtins.{name}"

    def _starred(self, name: ast.Name) -> str | None:
        """The API that the file has by importing everything of another file; annotations are taken as they are written."""
        if hasattr(builtins, name.id):
            return None
        child: ast.AST = name
        for parent in self._tree.ancestors(name):
            if isinstance(parent, ast.stmt):
                is_annotation = child in (getattr(parent, "annotation", None), getattr(parent, "returns", None))
                return None if is_annotation else self.starred(name.id)
            if isinstance(parent, ast.arg):
                return None
            child = parent
        return None

    def _is_other_variable(self, name: ast.Name) -> bool:
        """Whether a `Variable` that nothing binds is another library's: its star import, or arguments that no tensor takes."""
        tops = {module.partition(".")[0] for module in self._star_imports}
        if tops & _HAVE_VARIABLE and "torch.autograd" not in self._star_imports:
            return True
        match self._tree.parent(name):
            case ast.Call(func=function, args=arguments, keywords=words) if function is name:
                given = {word.arg for word in words}
                return not given <= _OF_VARIABLE or any(isinstance(each, _NO_TENSORS) for each in arguments[:1])
        return False

    @cached_property
    def _uses_another_framework(self) -> bool:
        """Whether the file imports a library that has a class ``Variable`` of its own."""
        imported: set[str] = set()
        for plain in self._tree.of_type(ast.Import):
            imported.update(alias.name.partition(".")[0] for alias in plain.names)
        for node in self._tree.of_type(ast.ImportFrom):
            if node.module and not node.level:
                imported.add(node.module.partition(".")[0])
        return bool(imported & _HAVE_VARIABLE) and "torch" not in imported

    @cached_property
    def _star_imports(self) -> list[str]:
        return [
            node.module
            for node in self._tree.of_type(ast.ImportFrom)
            if node.names[0].name == "*" and node.module and not node.level
        ]


_STAR_NAMES = torch_api.MODULES | torch_api.OPTIMIZERS | torch_api.SCHEDULERS | frozenset(torch_api.FUNCTIONS)


def _is_missing(binding: Binding) -> bool:
    """Whether a binding stands for an import that failed: ``X = None``, or a class or function in its place."""
    if binding.form in (Form.CLASS, Form.FUNCTION):
        return True
    return isinstance(binding.value, ast.Constant) and binding.value.value in (None, False)


def _optional(binding: Binding) -> str | None:
    """The module, or what is of it, of ``models, has_models = optional_import("torchvision", name="models")``."""
    match binding.value:
        case ast.Call(
            func=ast.Name(id="optional_import") | ast.Attribute(attr="optional_import"),
            args=[ast.Constant(value=str(module))],
            keywords=words,
        ) if binding.path == (0,):
            name = next((word.value for word in words if word.arg == "name"), None)
            if name is None:
                return module
            return f"{module}.{name.value}" if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return None


def imported_by_call(binding: Binding) -> str | None:
    """The module of ``pytest.importorskip("torch")`` and ``importlib.import_module("torch")``."""
    match binding.value:
        case ast.Call(
            func=ast.Name(id="importorskip" | "import_module") | ast.Attribute(attr="importorskip" | "import_module"),
            args=[ast.Constant(value=str(module)), *_],
        ):
            return module
    return None
