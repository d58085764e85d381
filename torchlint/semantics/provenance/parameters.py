"""Which values are parameters or buffers of modules for certain, and whether they may still wait for their first batch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, is_none
from torchlint.semantics.provenance.modules import PARALLEL, Made, Modules
from torchlint.semantics.provenance.witnesses import Witnesses

_WITHOUT_LAZY_LAYERS = frozenset(
    {
        *(
            "torch",
            "torchvision",
            "torchaudio",
            "numpy",
            "scipy",
            "matplotlib",
            "tqdm",
            "PIL",
            "pandas",
            "sklearn",
            "cv2",
            "gym",
        ),
        *(
            "argparse",
            "collections",
            "contextlib",
            "copy",
            "csv",
            "dataclasses",
            "datetime",
            "enum",
            "functools",
            "glob",
            "gzip",
        ),
        *("io", "itertools", "json", "logging", "math", "os", "pathlib", "pickle", "random", "re", "shutil", "string", "sys"),
        *(
            "tempfile",
            "time",
            "typing",
            "unicodedata",
            "urllib",
            "warnings",
            "zipfile",
            "__future__",
            "abc",
            "codecs",
            "socket",
        ),
        *(
            "seaborn",
            "tensorboardX",
            "visdom",
            "requests",
            "skimage",
            "imageio",
            "gymnasium",
            "h5py",
            "yaml",
            "nltk",
            "IPython",
            "wandb",
            "librosa",
            "networkx",
            "plotly",
        ),
    }
)
"""Libraries that make no modules with lazily initialised layers, other than by a class whose name says so."""
_LISTED = {"parameters": (), "named_parameters": (1,), "buffers": (), "named_buffers": (1,)}
"""Methods of modules that list tensors, and where these are in each item."""
_PARTS = {"modules": (), "children": (), "named_modules": (1,), "named_children": (1,)}
"""Methods of modules that list modules, and where these are in each item."""
_AROUND = frozenset({"builtins.list", "builtins.tuple", "builtins.iter", "builtins.reversed"})


class Parameters:
    """Tells of values whether they are parameters or buffers: by modules made in sight, and what torch's own classes refuse."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._modules = semantics.of(Modules)
        self._witnesses = semantics.of(Witnesses)

    # --- lists of them -----------------------------------------------------------------------------------------------

    def are_tensors(
        self,
        iterable: ast.expr,
        path: tuple[int | None, ...],
        *,
        exact: bool = False,
        given: Callable[[ast.expr], Sequence[ast.expr]] = lambda module: (module,),
    ) -> bool:
        """Whether iterating gives at ``path`` parameters or buffers that are initialised; ``given`` looks behind arguments."""
        return any(
            rest == _LISTED[call.func.attr] and all(self._is_whole(each, exact=exact) for each in given(call.func.value))
            for call, rest in self._listing(iterable, path)
            if isinstance(call.func, ast.Attribute)
        )

    def is_parameter(self, name: ast.expr) -> bool:
        """Whether ``name`` is a parameter of a module, or of an optimizer, initialised or not."""
        if not isinstance(name, ast.Name):
            return False
        found = self._semantics.bindings.reaching(name)
        return bool(found) and all(map(self._binds_parameter, found))

    def is_initialised(self, name: ast.Name) -> bool:
        """Whether ``name`` is a parameter that has a gradient, and so no lazy one that waits for its first batch."""
        return self._witnesses.has_gradient(name) and self.is_parameter(name)

    def _binds_parameter(self, binding: Binding) -> bool:
        if binding.form is not Form.LOOP or binding.value is None:
            return False
        if self._gives_group(binding.value, binding.path):
            return True
        return any(
            rest == _LISTED[call.func.attr] and self._is_module(call.func.value)
            for call, rest in self._listing(binding.value, binding.path)
            if isinstance(call.func, ast.Attribute)
        )

    def _listing(self, iterable: ast.expr, path: tuple[int | None, ...]) -> Iterator[tuple[ast.Call, tuple[int | None, ...]]]:
        """The call of ``parameters()`` or the like that is iterated over, and where in its items ``path`` then leads."""
        match iterable:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]) if path[:1] == (1,):
                yield from self._listing(inner, path[1:])
            case ast.Call(func=ast.Name(id="zip"), args=parts) if path and path[0] is not None and path[0] < len(parts):
                if not any(isinstance(each, ast.Starred) for each in parts):
                    yield from self._listing(parts[path[0]], path[1:])
            case ast.Call(func=function, args=[inner]) if self._semantics.qualified_name(function) in _AROUND:
                yield from self._listing(inner, path)
            case ast.Call(func=ast.Attribute(attr=method)) if method in _LISTED:
                yield iterable, path

    def _gives_group(self, iterable: ast.expr, path: tuple[int | None, ...]) -> bool:
        """Whether iterating gives the parameters of an optimizer's group, which takes nothing but tensors."""
        match iterable:
            case ast.Subscript(value=ast.Name() as group, slice=ast.Constant(value="params")) if not path:
                found = self._semantics.bindings.reaching(group)
                return bool(found) and all(
                    each.form is Form.LOOP and not each.path and self._are_groups(each.value) for each in found
                )
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]) if path == (1,):
                return self._gives_group(inner, ())
        return False

    def _are_groups(self, groups: ast.expr | None) -> bool:
        match groups:
            case ast.Attribute(value=owner, attr="param_groups"):
                definition = self._facts.self_class(owner)
                if definition is not None:
                    return self._facts.derives_from(definition, "torch.optim.Optimizer", "torch.optim.optimizer.Optimizer")
                return self._semantics.kind(owner).name in torch_api.OPTIMIZERS and self._is_made(owner)
        return False

    def _is_made(self, owner: ast.expr) -> bool:
        """Whether a name stands for nothing but what optimizers of torch that are made in sight."""
        found = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        return bool(found) and all(
            each.form is Form.ASSIGNMENT
            and not each.path
            and isinstance(each.value, ast.Call)
            and self._semantics.qualified_name(each.value.func) in torch_api.OPTIMIZERS
            for each in found
        )

    # --- modules -----------------------------------------------------------------------------------------------------

    def _is_module(self, node: ast.expr) -> bool:
        """Whether ``node`` is a module whose parameters are what torch says: declared, made in sight, or an own ``self``."""
        if self._modules.made(node):
            return True
        own = self._facts.self_class(node)
        if own is not None:
            is_torch = self._facts.derives_from(own, "torch.nn.Module")
            return is_torch and not any(self._facts.method(own, name) for name in _LISTED)
        if isinstance(node, ast.Attribute):
            return self._is_own_module(node)
        found = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(found) and all(map(self._binds_module, found))

    def _binds_module(self, binding: Binding) -> bool:
        if binding.annotation is not None and binding.form is Form.PARAMETER:
            return self._semantics.qualified_name(binding.annotation) in torch_api.MODULES
        match binding.value:
            case ast.Call(func=ast.Attribute(value=whole, attr=method)) if binding.form is Form.LOOP and method in _PARTS:
                return binding.path == _PARTS[method] and self._has_plain_parts(whole)
            case ast.Call(func=function) if binding.form is Form.ASSIGNMENT and not binding.path:
                return (self._semantics.qualified_name(function) or "").startswith("torchvision.models.")
        return False

    def _has_plain_parts(self, node: ast.expr) -> bool:
        """Whether all parts of a module list their parameters as torch does: it is made in sight, of torch and the file."""
        made = self._modules.made(node)
        lists = any(_LISTED.keys() & facts.methods.keys() for facts in self._facts.classes.values())
        return bool(made) and not lists and all(self._is_closed(each.call, set()) for each in made)

    def _is_own_module(self, node: ast.Attribute) -> bool:
        """Whether ``self.m`` is a module that the class's own ``__init__`` registers; it can be replaced by modules only."""
        definition = self._facts.self_class(node.value)
        if definition is None or not self._modules.is_guarded(definition) or self._modules.sets_anything:
            return False
        stores = [store for slot in self._facts.slots(definition, node.attr) for store in slot.stores]
        if any(isinstance(store.ctx, ast.Del) for store in stores):
            return False
        return any(self._is_unconditional(store) and self._stores_module(store) for store in stores)

    def _stores_module(self, store: ast.Attribute) -> bool:
        match self._semantics.tree.parent(store):
            case ast.Assign(value=value):
                return bool(self._modules.made(value, exact=True))
        return False

    def _is_whole(self, node: ast.expr, *, exact: bool) -> bool:
        """Whether a module is made in sight of layers that need no first batch to be initialised."""
        made = self._modules.made(node, exact=exact)
        return bool(made) and not self._speaks_of_lazy_layers and all(map(self._is_initialised, made))

    def _is_initialised(self, made: Made) -> bool:
        if made.definition is not None:
            return self._is_closed(made.call, set())
        if made.name in PARALLEL or made.name in torch_api.CONTAINER_MODULES or made.name.startswith("torch.nn.Transformer"):
            return self._is_closed(made.call, set())
        return "Lazy" not in made.name

    @cached_property
    def _speaks_of_lazy_layers(self) -> bool:
        """Whether the file speaks of lazy layers, or of what may load any code."""
        words = self._semantics.words.all
        return any(word.startswith(("Lazy", "Uninitialized")) for word in words) or bool(
            words & {"hub", "importlib", "__import__"}
        )

    def _is_closed(self, node: ast.AST, seen: set[ast.AST], around: ast.AST | None = None) -> bool:
        """Whether all that ``node`` is made with is of the file and of libraries that make no lazy layers.

        ``around`` is the class or function whose calls are looked at elsewhere, so that its parameters are known.
        """
        if node in seen:
            return True
        seen.add(node)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found = self._semantics.bindings.reaching(part)
                if not all(self._is_closed_binding(each, around, seen) for each in found) or (not found and self._has_stars):
                    return False
        return True

    def _is_closed_binding(self, binding: Binding, around: ast.AST | None, seen: set[ast.AST]) -> bool:
        match binding.form:
            case Form.IMPORT:
                return binding.imported.partition(".")[0] in _WITHOUT_LAZY_LAYERS
            case Form.CLASS | Form.FUNCTION:
                return self._is_closed(binding.node, seen, binding.node)
            case Form.PARAMETER:
                return self._is_plain(binding) or (around is not None and self._is_made_with(binding, around))
        return binding.value is None or self._is_closed(binding.value, seen, around)

    def _is_made_with(self, binding: Binding, around: ast.AST) -> bool:
        """Whether a parameter is of an ``__init__``, a function in one, or a method that keeps nothing: of calls in sight."""
        function = binding.scope.node
        if not self._semantics.tree.inside(function, around):
            return False
        if not isinstance(function, FUNCTIONS) or function.name == "__init__" or isinstance(around, FUNCTIONS):
            return True
        return not any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in ast.walk(function))

    @cached_property
    def _has_stars(self) -> bool:
        nodes = self._semantics.tree.of_type(ast.ImportFrom)
        return any(node.names and node.names[0].name == "*" and not (node.module or "").startswith("torch") for node in nodes)

    def _is_plain(self, binding: Binding) -> bool:
        annotation = binding.annotation
        return annotation is not None and (self._semantics.qualified_name(annotation) or "").startswith("builtins.")

    # --- attributes of `self` ----------------------------------------------------------------------------------------

    def is_own(self, node: ast.Attribute) -> bool:
        """Whether ``self.w`` is a parameter or buffer that the class's own ``__init__`` registers, without a condition.

        `nn.Module` refuses to assign anything but a tensor to it from then on, to whoever tries.
        """
        definition = self._facts.self_class(node.value)
        if definition is None or not self._modules.is_guarded(definition) or self._modules.sets_anything:
            return False
        if self._is_inherited(definition, node.attr):
            return True
        stores = [store for slot in self._facts.slots(definition, node.attr) for store in slot.stores]
        if any(isinstance(store.ctx, ast.Del) for store in stores):
            return False
        registering = [
            call for call in self._facts.calls.get("register_buffer", ()) if self._registers(call, definition, node.attr)
        ]
        return any(self._stores_parameter(store) and self._is_unconditional(store) for store in stores) or any(
            map(self._is_unconditional, registering)
        )

    def _stores_parameter(self, store: ast.Attribute) -> bool:
        match self._semantics.tree.parent(store):
            case ast.Assign(value=ast.Call(func=function)) | ast.AnnAssign(value=ast.Call(func=function)):
                return self._semantics.qualified_name(function) == "torch.nn.Parameter"
            case ast.Assign(value=ast.Attribute(value=owner, attr=name)):
                own = self._facts.self_class(owner)
                return own is not None and self._is_inherited(own, name)
        return False

    def _is_inherited(self, definition: ast.ClassDef, name: str) -> bool:
        """Whether a layer of torch that a class derives from has a parameter of this name."""
        bases = {self._semantics.qualified_name(base) or "" for base in definition.bases}
        return any(name in torch_api.PARAMETER_ATTRIBUTES.get(base, ()) and "Lazy" not in base for base in bases)

    def _registers(self, call: ast.Call, definition: ast.ClassDef, name: str) -> bool:
        """Whether a call registers a tensor of this name, and not ``None``."""
        match call:
            case ast.Call(func=ast.Attribute(value=owner), args=[ast.Constant(value=said), value, *_]) if said == name:
                is_missing = is_none(value)
                return self._facts.self_class(owner) is definition and not is_missing
        return False

    def _is_unconditional(self, node: ast.expr) -> bool:
        function = self._semantics.tree.parent(self._semantics.tree.statement(node))
        return isinstance(function, FUNCTIONS) and function.name == "__init__"
