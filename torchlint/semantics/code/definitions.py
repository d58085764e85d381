"""What a file's classes and functions are made of: bases, methods, attributes, calls, returned values."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.semantics.code.bindings import Bindings, Form
from torchlint.semantics.code.names import Names
from torchlint.semantics.code.tree import FUNCTIONS, Function, Tree, is_self, own_returns

_MOST_BASES = 32
"""How many bases of a class are looked at: chains that are longer would take time by the square of their length."""

LIGHTNING = tuple(f"{package}.LightningModule" for package in ("pytorch_lightning", "lightning", "lightning.pytorch"))
"""What Lightning's modules derive from, by the packages that have had it."""
MODULE_BASES = (
    "torch.nn.",
    *LIGHTNING,
    "torch_geometric.nn.",
    "allennlp.models.",
    "allennlp.modules.",
    "fairseq.models.",
)
"""Classes whose subclasses are modules: prefixes of their dotted names."""


@dataclass(eq=False, slots=True)
class Slot:
    """An attribute of a class's instances: where the class's methods store to it, and where they read it."""

    stores: list[ast.Attribute] = field(default_factory=list)
    uses: list[ast.Attribute] = field(default_factory=list)
    class_values: list[tuple[ast.expr | None, ast.expr | None]] = field(default_factory=list)
    """Values and annotations from assignments in the class body."""


@dataclass(eq=False, slots=True)
class ClassFacts:
    """One class of the file."""

    node: ast.ClassDef
    methods: dict[str, Function] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)


class Definitions:
    """Looks up the classes, functions and calls of a file."""

    def __init__(self, tree: Tree, bindings: Bindings, names: Names) -> None:
        self._tree = tree
        self._bindings = bindings
        self._names = names
        self._module_classes: dict[ast.ClassDef, bool] = {}
        self._bases: dict[ast.ClassDef, tuple[ast.ClassDef, ...]] = {}
        self.is_plain: Callable[[ast.expr], bool] = lambda _: False
        """Whether a base from another file is known to be no module; nothing is known of any without a project."""

    @cached_property
    def classes(self) -> dict[ast.ClassDef, ClassFacts]:
        """The classes of the file, with their methods and attributes."""
        classes = {node: _class_facts(node) for node in self._tree.of_type(ast.ClassDef)}
        for node in self._tree.of_type(ast.Attribute) if classes else ():
            owner = self.self_class(node.value)
            if owner is not None:
                slot = classes[owner].slots.setdefault(node.attr, Slot())
                (slot.uses if isinstance(node.ctx, ast.Load) else slot.stores).append(node)
        return classes

    @cached_property
    def method_names(self) -> frozenset[str]:
        """The names under which a class of the file has a method."""
        return frozenset(name for facts in self.classes.values() for name in facts.methods)

    @cached_property
    def _derived(self) -> dict[ast.ClassDef, list[ast.ClassDef]]:
        derived: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for node in self.classes:
            for base in self.bases(node):
                derived.setdefault(base, []).append(node)
        return derived

    def derived(self, node: ast.ClassDef) -> Sequence[ast.ClassDef]:
        """The class and the classes of the file that derive from it, in the order of the file."""
        return self._derived[node]

    def self_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose instance ``node`` is, where ``node`` is the first parameter of one of its methods."""
        if not isinstance(node, ast.Name):
            return None
        bindings = self._bindings.reaching(node)
        if len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return None
        function = bindings[0].scope.node
        if not isinstance(function, FUNCTIONS) or not isinstance(owner := self._tree.parent(function), ast.ClassDef):
            return None
        first = [*function.args.posonlyargs, *function.args.args][:1]
        if not first or first[0] is not bindings[0].node or is_static(function) or is_class_method(function):
            return None
        return owner

    def bases(self, node: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """The class and the bases of it that the file defines, nearest first."""
        known = self._bases.get(node)
        if known is None:
            known = self._bases[node] = tuple(self._find_bases(node))
        return known

    def _find_bases(self, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
        found = {node: None}
        queue = deque([node])
        while queue:
            current = queue.popleft()
            yield current
            for base in current.bases:
                definition = self.definition(base) if len(found) < _MOST_BASES else None
                if isinstance(definition, ast.ClassDef) and definition not in found:
                    found[definition] = None
                    queue.append(definition)

    def definition(self, node: ast.AST) -> ast.ClassDef | Function | None:
        """The class or function of the file that a name refers to."""
        if not isinstance(node, ast.Name):
            return None
        bindings = self._bindings.reaching(node)
        found = [binding.node for binding in bindings if binding.form in (Form.CLASS, Form.FUNCTION)]
        if len(found) == len(bindings) == 1 and isinstance(found[0], (ast.ClassDef, *FUNCTIONS)):
            return found[0]
        return None

    def derives_from(self, node: ast.ClassDef, *prefixes: str) -> bool:
        """Whether the class, through its bases in the file, derives from a class whose dotted name starts with a prefix."""
        for current in self.bases(node):
            for base in current.bases:
                name = self._names.qualified(base) or ""
                if name.startswith(prefixes):
                    return True
        return False

    def is_module(self, node: ast.ClassDef) -> bool:
        """Whether the class is a `torch.nn.Module`: by its bases, or because it has a forward and sets submodules."""
        if node not in self._module_classes:
            self._module_classes[node] = self.derives_from(node, *MODULE_BASES) or self._looks_like_module(node)
        return self._module_classes[node]

    def _looks_like_module(self, node: ast.ClassDef) -> bool:
        """An unknown base and a ``forward`` or ``training_step``: a module of the project's own base class."""
        if self.method(node, "forward") is None and self.method(node, "training_step") is None:
            return False
        unknown = [base for current in self.bases(node) for base in current.bases if self.definition(base) is None]
        names = [self._names.qualified(base) or "" for base in unknown]
        if all(name == "builtins.object" for name in names) or any(name.startswith("torch.autograd") for name in names):
            return False
        return not all(name == "builtins.object" or self.is_plain(base) for name, base in zip(names, unknown))

    def method(self, node: ast.ClassDef, name: str) -> Function | None:
        """The method that an instance of the class has under ``name``, as far as the file defines it."""
        for current in self.bases(node):
            if name in self.classes[current].methods:
                return self.classes[current].methods[name]
        return None

    def slots(self, node: ast.ClassDef, name: str) -> list[Slot]:
        """What the class and its bases in the file do with an attribute."""
        return [found.slots[name] for base in self.bases(node) if name in (found := self.classes[base]).slots]

    def assigned(self, slots: Iterable[Slot]) -> list[ast.expr]:
        """All that is assigned to an attribute, by what classes do with it; nothing where some of it is not known."""
        values: list[ast.expr] = []
        for store in (store for slot in slots for store in slot.stores):
            statement = self._tree.parent(store)
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                return []
            values.append(statement.value)
        return values

    @cached_property
    def stored_attributes(self) -> frozenset[str]:
        """The attributes that the file stores to, of whatever object but ``self``."""
        stored = (node for node in self._tree.of_type(ast.Attribute) if not isinstance(node.ctx, ast.Load))
        return frozenset(node.attr for node in stored if not is_self(node.value))

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """The calls of the file, by the last name of what is called."""
        calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in self._tree.of_type(ast.Call):
            if isinstance(node.func, ast.Name):
                calls[node.func.id].append(node)
            elif isinstance(node.func, ast.Attribute):
                calls[node.func.attr].append(node)
        return calls

    @cached_property
    def read_names(self) -> Counter[str]:
        """How often the file reads each name, and names it as an attribute."""
        names = Counter(node.id for node in self._tree.of_type(ast.Name) if isinstance(node.ctx, ast.Load))
        names.update(node.attr for node in self._tree.of_type(ast.Attribute))
        return names

    def call_sites(self, function: ast.AST) -> list[ast.Call]:
        """The calls in the file that surely are of ``function``: by its name, or as a method of ``self``."""
        return self._call_sites.get(function, [])

    @cached_property
    def _call_sites(self) -> dict[ast.AST, list[ast.Call]]:
        found: dict[ast.AST, list[ast.Call]] = defaultdict(list)
        for calls in self.calls.values():
            for call in calls:
                called = self.called(call)
                if called is not None:
                    found[called].append(call)
        return found

    def called(self, call: ast.Call) -> Function | None:
        """The function of the file that ``call`` surely runs: by its name, or as a method of ``self``."""
        if isinstance(call.func, ast.Attribute):
            owner = self.self_class(call.func.value)
            return self.method(owner, call.func.attr) if owner is not None else None
        found = self.definition(call.func)
        return found if isinstance(found, FUNCTIONS) else None

    def full_name(self, function: Function) -> str:
        """What other files call a function of the file, ``Class.method`` where it is a method."""
        owner = self._tree.parent(function)
        return f"{owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else function.name

    def argument(self, call: ast.Call, function: Function, parameter: ast.arg) -> ast.expr | None:
        """The expression that ``call`` gives for a parameter of ``function``; its default; or ``None`` if none is certain."""
        positional = [*function.args.posonlyargs, *function.args.args]
        if (isinstance(call.func, ast.Attribute) or function.name == "__init__") and not is_static(function):
            positional = positional[1:]
        for keyword in call.keywords:
            if keyword.arg == parameter.arg:
                return keyword.value
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return None
        if parameter in positional and positional.index(parameter) < len(call.args):
            return call.args[positional.index(parameter)]
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        return self.default(function, parameter)

    @staticmethod
    def default(function: Function, parameter: ast.arg) -> ast.expr | None:
        """The default value of a parameter."""
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        if parameter in positional and arguments.defaults:
            index = positional.index(parameter) - (len(positional) - len(arguments.defaults))
            return arguments.defaults[index] if index >= 0 else None
        if parameter in arguments.kwonlyargs:
            return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)]
        return None

    def returned(self, function: Function) -> list[ast.expr | None]:
        """The expressions that a function returns; ``None`` for a bare return."""
        return [each.value for each in own_returns(function)]


def is_static(function: Function) -> bool:
    """Whether a function is a static method."""
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in function.decorator_list)


def is_class_method(function: Function) -> bool:
    """Whether a function is a class method."""
    return any(isinstance(decorator, ast.Name) and decorator.id == "classmethod" for decorator in function.decorator_list)


def _class_facts(node: ast.ClassDef) -> ClassFacts:
    facts = ClassFacts(node)
    for statement in node.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                facts.methods[statement.name] = statement
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                facts.slots.setdefault(name, Slot()).class_values.append((value, None))
            case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=annotation):
                facts.slots.setdefault(name, Slot()).class_values.append((value, annotation))
    return facts
