from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.rules.spelling import spelled
from torchlint.semantics import Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.collections import Collection, Collections, may_be_collection
from torchlint.semantics.modules.new import NewModules
from torchlint.semantics.modules.registration import Registration
from torchlint.target import TorchVersion

_OF_LISTS = frozenset({"append", "extend", "insert", "pop"})
_OF_PARAMETER_LISTS = frozenset({"append", "extend"})
_OF_DICTS = frozenset({"keys", "values", "items", "pop", "update", "clear"})
_GROWN = TorchVersion(2, 0)
"""Since then module lists have ``pop`` and ``+``, and parameter dicts all that dicts have."""
_RESERVED_KEYS = torch_api.MODULE_ATTRIBUTES | _OF_DICTS
_OVERRIDES = frozenset({"parameters", "named_parameters", "children", "modules", "_apply", "state_dict", "to", "cuda"})

_GAP = rb"[\s\\]*"
_NAME = rb"[\w\x80-\xff]+"
_ATTRIBUTE = (
    rb"\.(?:(?=[\s\\#])(?:[ \t]*(?:\\[\s\\]*)?(?=[^\s#])|\s*(?:#[^\r\n]{0,300}[\r\n]\s*){0,5}(?="
    + _NAME
    + rb"\s*\))))?"
    + _NAME
    + rb"[\s\\)]*"
)
_ANNOTATION = rb"(?::(?:[^=\r\n]{1,300}|[^=\r\n]{0,300}(?<=[\[(])[ \t]*[\r\n][^=]{0,300}))?"
_MADE = rb"(?:list|tuple|dict|OrderedDict)[\s\\)]*[(#]|\w+[\s\\)]*\.[\s\\]*OrderedDict"
_KEPT = re.compile(
    _ATTRIBUTE
    + _ANNOTATION
    + rb"=[ \t]*(?:[\[{(](?![ \t]*[^\s\[\](){}a-zA-Z_\x80-\xff][^\[\](){}\r\na-zA-Z_\x80-\xff]*[\]})]"
    + rb"[ \t]*[#;\r\n])|\\|"  # a display that holds a name
    + _MADE
    + rb"|[\w.\x80-\xff]+[ \t]*(?:,|=[^=]|[*+]"  # several targets or values; a sum or product
    + _GAP
    + rb"(?:list|tuple)?[\[(]))"
)
_KEPT_WITH_OTHERS = re.compile(
    rb"[\r\n;:][ \t(\[]*[\w\x80-\xff]+\.[\w\x80-\xff]+[ \t]*,[^=:\[\r\n]*(?:\[[^=\]\r\n]*\][^=:\[\r\n]*)*=(?!=)"
)
_NAMED = re.compile(
    _ATTRIBUTE + _ANNOTATION + rb"=[ \t]*(?:[\w.]+" + _GAP + rb"\*" + _GAP + rb")?(" + _NAME + rb")[ \t\f]*(?:[#;\r\n\\+*]|\Z)"
)
_LOCAL = re.compile(
    rb"(?:\A|[\r\n;=:,(])[ \t(]*(" + _NAME + rb")[\s\\)]*" + _ANNOTATION + rb"=[ \t]*"
    rb"(?:[\[{\\]|\((?=[^\r\n]*,|[ \t]*[\r\n(#])|"
    + _MADE
    + rb"|(?!(?:[\d.]+|True|False|None|nn\.\w+)[ \t]*,[ \t]*[#\r\n])"  # a parameter's default, not a tuple of modules
    + rb"[\w.\x80-\xff]+[ \t]*(?:[*+,\\]|=(?!=)))"
)


def _may_keep_collection(data: bytes) -> bool:
    """Whether a file gives an attribute something that looks like a collection, or a name that was given one."""
    if _KEPT.search(data) or any(_starts_statement(data, match.start()) for match in _KEPT_WITH_OTHERS.finditer(data)):
        return True
    names = set(_NAMED.findall(data))
    return bool(names) and not names.isdisjoint(_LOCAL.findall(data))


def _starts_statement(data: bytes, place: int) -> bool:
    """Whether the line behind ``place`` may be more than the next of the items in a bracket."""
    before = data[max(place - 200, 0) : place].rstrip()
    return not before.endswith((b",", b"(", b"[", b"{")) or b"#" in before[before.rfind(b"\n") + 1 :]


class UnregisteredModules(AstRule):
    """
    ## What it does
    Finds modules and parameters that an `nn.Module` keeps in a plain list, tuple or dict: `self.layers = [nn.Linear(8, 8)]`,
    also where they are appended one by one.

    ## Why is this bad
    A module finds its submodules among its own attributes, not inside of lists. What stands in a plain list is missing from
    `parameters()`, so the optimizer never trains it; it is missing from `state_dict()`, so it is not saved; and it stays where
    it is when the model goes to another device, and as it is on `train()` and `eval()`.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(8, 8) for _ in range(3)]
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
    ```

    ## Fix safety
    Safe where all that is in the collection is known: `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` and
    `nn.ParameterDict` are used like the list or dict that they replace. Unsafe where other things may be in it. There is no fix
    where the code uses what the registering container does not have, such as `.index()` or keys that are no strings.
    Checkpoints that were saved without the modules lack their entries.

    Lists that the class registers in another way (`nn.Sequential(*layers)`, `add_module`), modules that are attributes as well,
    and layers that have nothing to train or to move are not reported.

    ## References
    - [torch.nn.ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "TPL301"
    name = "unregistered-modules"
    screen = Screen(any_of=(b"class",), check=_may_keep_collection)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Looks at what attributes of ``self`` are given."""
        for target, value in _pairs(node.targets, node.value):
            self._look_at(node, target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Looks at what an annotated attribute of ``self`` is given."""
        if node.value is not None:
            self._look_at(node, node.target, node.value)

    def _look_at(self, statement: ast.stmt, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or not may_be_collection(value):
            return
        owner = self.semantics.facts.self_class(target.value)
        if owner is None or not self._collections.is_collection(value) or not self._classes.is_sure(owner):
            return
        if any(self.semantics.facts.method(owner, name) is not None for name in _OVERRIDES):
            return
        found = self._collections.collected(owner, statement, target, value)
        if found is not None and not self._registration.is_registered(found):
            self._judge(found)

    @cached_property
    def _classes(self) -> ModuleClasses:
        return ModuleClasses(self.semantics)

    @cached_property
    def _collections(self) -> Collections:
        return Collections(self.semantics)

    @cached_property
    def _registration(self) -> Registration:
        return Registration(self.semantics, self._collections)

    @cached_property
    def _new(self) -> NewModules:
        return NewModules(self.semantics)

    # --- judgement ---------------------------------------------------------------------------------------------------

    def _judge(self, found: Collection) -> None:
        items = [item for item in self._collections.items(found) if not _is_none(item)]
        modules = [item for item in items if self._new.is_module(item) and not self._registration.is_kept_elsewhere(item)]
        parameters = [item for item in items if self._new.is_parameter(item) and not self._registration.is_kept_elsewhere(item)]
        stateful = [item for item in modules if self._new.has_state(item)]
        if stateful or parameters:
            self._report(found, items, stateful or parameters, "`parameters()` misses them, and they are never trained")
        elif any(self._new.depends_on_mode(item) for item in modules):
            self._report(found, items, modules, "`train()` and `eval()` do not reach them")

    # --- the report --------------------------------------------------------------------------------------------------

    def _report(self, found: Collection, items: list[ast.expr], culprits: list[ast.expr], damage: str) -> None:
        is_dict = self._collections.is_dict(found)
        parameters = all(self._new.is_parameter(item) for item in culprits)
        container = ("Parameter" if parameters else "Module") + ("Dict" if is_dict else "List")
        plain = "dict" if is_dict else "tuple" if isinstance(found.displays[0], ast.Tuple) else "list"
        what = "parameters" if parameters else "modules"
        target = ast.unparse(found.target)
        message = f"`{target}` keeps {what} in a plain {plain}: {damage}; use `nn.{container}`"
        self.report(found.target, message, self._fix(found, items, container))

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, found: Collection, items: list[ast.expr], container: str) -> Fix | None:
        is_known = [self._new.is_parameter(i) if container.startswith("Parameter") else self._is_module(i) for i in items]
        others = [item for item, known in zip(items, is_known) if not known]
        if any(self._cannot_be_module(item) for item in others):
            return None
        keys = self._keys_are_strings(found) if container.endswith("Dict") else True
        if keys is False or not self._is_used_like(found, container) or self._comes_too_early(found):
            return None
        if isinstance(found.value, ast.Name) and self._grows_after(found):
            return None
        edits = self._edits(found, container)
        if edits is None:
            return None
        return self.fix(f"Use `nn.{container}`", edits, safe=not others and keys is True)

    def _is_module(self, item: ast.expr) -> bool:
        return self._new.is_module(item) or self.semantics.kind(item).type is Type.MODULE

    def _cannot_be_module(self, item: ast.expr) -> bool:
        kind = self.semantics.kind(item)
        if isinstance(item, ast.Lambda) or self._new.is_parameter(item):
            return True
        return kind.type not in (Type.UNKNOWN, Type.MODULE, Type.NONE, Type.SEQUENCE, Type.MAPPING)

    def _keys_are_strings(self, found: Collection) -> bool | None:
        """Whether all keys are strings that may name a module; ``None`` where that is open."""
        sure = True
        for key in found.keys:
            if key is None:
                sure = False
            elif isinstance(key, ast.Constant):
                if not isinstance(key.value, str) or not key.value or "." in key.value or key.value in _RESERVED_KEYS:
                    return False
            else:
                kind = self.semantics.kind(key)
                if kind.type not in (Type.STRING, Type.UNKNOWN) or "'.'" in ast.dump(key):
                    return False
                sure = sure and kind.type is Type.STRING
        return True if sure else None

    def _is_used_like(self, found: Collection, container: str) -> bool:
        """Whether all that the file does with the collection can be done with the registering container, too."""
        names = {"ModuleDict": _OF_DICTS, "ModuleList": _OF_LISTS, "ParameterList": _OF_PARAMETER_LISTS}.get(container)
        is_old = self.target < _GROWN
        others = [
            node
            for node in self._attributes
            if node.attr == found.target.attr and isinstance(node.value, ast.Name) and node not in found.uses
        ]
        for use in (*found.uses, *others):
            parent = self.semantics.tree.parent(use)
            match parent:
                case ast.Attribute(attr=method, value=value) if value is use:
                    if (names is not None and method not in names) or (is_old and (method == "pop" or names is None)):
                        return False
                case ast.BinOp(left=left) if left is not use or container != "ModuleList" or is_old:
                    return False
                case ast.Compare():
                    return False
                case ast.Call(func=ast.Name(id="isinstance" | "type" | "sorted" | "hash")):
                    return False
        return True

    @cached_property
    def _attributes(self) -> list[ast.Attribute]:
        return self.semantics.tree.of_type(ast.Attribute)

    def _comes_too_early(self, found: Collection) -> bool:
        """Whether the attribute is set before the module is initialised, when no module may be assigned yet."""
        function = self.semantics.tree.function(found.target)
        if not isinstance(function, FUNCTIONS):
            return True
        flow = self.semantics.control_flow
        return any(flow.may_follow(found.target, call) for call in self._classes.initialising(function))

    def _grows_after(self, found: Collection) -> bool:
        """Whether the list that the attribute was given is added to under its own name afterwards."""
        flow = self.semantics.control_flow
        return any(flow.may_follow(found.value, use) for use in found.uses if isinstance(use, ast.Name))

    def _edits(self, found: Collection, container: str) -> list[TextEdit] | None:
        rewriter = Rewriter(self.source, self.semantics)
        name, edits = spelled(f"torch.nn.{container}", found.target, self.semantics, rewriter)
        edits = [*edits, *self._wrapped(found.value, name)]
        kind = "Parameter" if container.startswith("Parameter") else "Module"
        for nested in self._collections.nested(found):
            if kind == "Parameter" or not self._has_string_keys(nested):
                return None
            inner = f"torch.nn.{kind}{'Dict' if self._collections.is_dict_display(nested) else 'List'}"
            spelling, imports = spelled(inner, found.target, self.semantics, rewriter)
            edits.extend([*imports, *self._wrapped(nested, spelling)])
        return edits

    @staticmethod
    def _has_string_keys(node: ast.expr) -> bool:
        """Whether a nested collection is no dict, or one whose keys are written out and may name modules."""
        keys = node.keys if isinstance(node, ast.Dict) else [node.key] if isinstance(node, ast.DictComp) else []
        return all(isinstance(key, ast.Constant) and isinstance(key.value, str) and "." not in key.value for key in keys)

    def _wrapped(self, value: ast.expr, name: str) -> list[TextEdit]:
        start, end = self.source.start(value), self.source.end(value)
        if _is_empty(value):
            return [(start, end, f"{name}()")]
        if isinstance(value, ast.Tuple) and not self.source.segment(value).startswith("("):
            return [(start, start, f"{name}(("), (end, end, "))")]
        if (
            isinstance(value, ast.Call)
            and len(value.args) == 1
            and not value.keywords
            and last_name(value.func) in ("list", "tuple")
        ):
            return [(self.source.start(value.func), self.source.end(value.func), name)]
        return [(start, start, f"{name}("), (end, end, ")")]


def _pairs(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with what each is given."""
    for target in targets:
        match target, value:
            case (ast.Tuple(elts=parts) | ast.List(elts=parts), ast.Tuple(elts=values)) if len(parts) == len(values):
                yield from zip(parts, values)
            case _:
                yield target, value


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]) | ast.Call(args=[], keywords=[]):
            return True
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
