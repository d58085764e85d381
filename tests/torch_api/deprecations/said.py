"""What the source of a library says of its own deprecations: decorators, warnings, bodies that only raise, docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from conditions import GIVEN, conditions
from libraries import Definition, Library, Module, source

_DEPRECATED = re.compile(
    r"deprecat|will be removed|has been renamed|no longer (?:necessary|supported|used)|was renamed|should be passed explicitly",
    re.IGNORECASE,
)
_REMOVED = re.compile(r"deprecat|removed|no longer|not supported anymore|renamed", re.IGNORECASE)
_DOCUMENTED = re.compile(
    r"\.\. deprecated::|\.\. warning::\s+(?:[^\n]*\n?){0,3}?[^\n]*\bdeprecated\b|^\s*\[?Deprecated\b"
    r"|(?:This|The) (?:function|method|class|module|API|operation)[^.\n]{0,60} (?:is|has been|was|is now) (?:now )?deprecated"
    r"|:?`?[\w.]+\(?\)?`? (?:is|has been) deprecated (?:in favor|and)",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile("deprecated", re.IGNORECASE)
_LINES_BEFORE, _BEHIND = 12, 12
"""How many lines before that word, and characters behind it, what says it of the whole may take at most."""
_PARAMETER = re.compile(
    r"^(?P<indent>[ \t]+)(?P<name>\w+) ?\([^)\n]*\):?(?P<rest>.*(?:\n(?P=indent)[ \t]+\S.*|\n[ \t]*(?=\n))*)", re.MULTILINE
)
_DEPRECATED_PARAMETER = re.compile(r"\s*(?:\[?deprecated\b)|\.\. deprecated::", re.IGNORECASE)
_DOCSTRING_ADDERS = frozenset({"add_docstr", "_add_docstr", "add_docstr_all"})
_ALWAYS = re.compile(r"sys\.version_info|is_scripting|is_compiling|is_dynamo|is_torchdynamo|_is_tracing|is_tracing")
"""Conditions that hold wherever people run the code."""
_SETUP = frozenset({"__init__", "__new__"})


@dataclass(frozen=True, slots=True)
class Said:
    """One deprecation: of what ``module`` calls ``name`` (``Class.method`` is possible; empty for the module itself), or of a
    ``parameter`` of it, ``when`` it is given or not, and perhaps its ``replacement``; ``is_removed`` if using it only raises;
    ``how`` names the source."""

    module: str
    name: str
    parameter: str
    message: str
    how: str
    is_removed: bool = False
    when: str = ""
    replacement: str = ""


class Sayings:
    """Reads one library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    @cached_property
    def all(self) -> list[Said]:
        """All that is said, once each."""
        found: dict[tuple[str, str, str, str], Said] = {}
        for module in self._library.modules.values():
            for each in self._of_module(module):
                found.setdefault((each.module, each.name, each.parameter, each.how), each)
        return list(found.values())

    def _of_module(self, module: Module) -> Iterator[Said]:
        for statement in module.tree.body:
            if isinstance(statement, ast.Expr) and (message := self._warning(module, statement.value)):
                yield Said(module.name, "", "", message, "warning")
            yield from self._added_docstring(module, statement)
        for name, value in module.values.items():
            if isinstance(value, ast.Call) and (message := self._made_deprecated(module, value)):
                yield Said(module.name, name, "", message, "helper")
            if isinstance(value, ast.Call) and (message := self._of_instance(module, value)):
                yield Said(module.name, name, "", message, "warning")
        for name, definition in module.definitions.items():
            yield from self._of_definition(module, name, definition)

    def _of_definition(self, module: Module, name: str, definition: Definition) -> Iterator[Said]:
        for decorator in definition.decorator_list:
            yield from _renamed_parameters(module.name, name, decorator)
            if (message := self._decorated(module, decorator)) is not None:
                overloaded = any(_last_name(each) == "overload" for each in definition.decorator_list)
                if not overloaded:
                    yield Said(module.name, _owner(name), "", message, "decorator")
        if (text := ast.get_docstring(definition, clean=False)) is not None:
            yield from _documented(module.name, _owner(name), text)
        if isinstance(definition, ast.ClassDef):
            for each in definition.body:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield from self._of_definition(module, f"{name}.{each.name}", each)
            return
        yield from self._body(module, name, definition)

    def _body(self, module: Module, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Said]:
        body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
        if body and isinstance(body[0], ast.Raise) and body[0].exc is not None:
            message = self._text(module, body[0].exc)
            if _REMOVED.search(message) and not name.rpartition(".")[2].startswith("__torch"):
                yield Said(module.name, _owner(name), "", message, "raises", is_removed=True)
        if message := self._handed_on(module, body):
            yield Said(module.name, _owner(name), "", message, "raises", is_removed=True)
        for call, tests in _calls(body, ()):
            message = self._warning(module, call)
            if not message:
                continue
            asked = [test for test in tests if not _ALWAYS.search(ast.unparse(test))]
            if not asked:
                is_quiet = "DeprecationWarning" in ast.unparse(call)  # Python shows these in the main program only
                yield Said(module.name, _owner(name), "", message, "quiet warning" if is_quiet else "warning")
                continue
            for parameter, when in sorted(conditions(asked, function).items()):
                yield Said(module.name, _owner(name), parameter, message, "warning", when=when)

    def _handed_on(self, module: Module, body: list[ast.stmt]) -> str:
        """The message of a function that imports another one, and calls it, which only raises; empty for any other."""
        match body:
            case [
                ast.ImportFrom(names=[imported]) as statement,
                ast.Return(value=ast.Call(func=ast.Name(id=name))),
            ] if name == (imported.asname or imported.name):
                home = self._library.modules.get(source(module, statement))
                called = home.definitions.get(imported.name) if home is not None else None
                if home is None or not isinstance(called, ast.FunctionDef):
                    return ""
                own = called.body[1:] if ast.get_docstring(called, clean=False) is not None else called.body
                if own and isinstance(own[0], ast.Raise) and own[0].exc is not None:
                    message = self._text(home, own[0].exc)
                    return message if _REMOVED.search(message) else ""
        return ""

    def _of_instance(self, module: Module, call: ast.Call) -> str:
        """The message of an object that warns whenever something of it is asked for; empty for any other."""
        made = module.definitions.get(_last_name(call.func))
        if not isinstance(made, ast.ClassDef):
            return ""
        asked = [each for each in made.body if isinstance(each, ast.FunctionDef) and each.name == "__getattribute__"]
        for method in asked:
            for decorator in method.decorator_list:
                if message := self._decorated(module, decorator):
                    return message
            for each, tests in _calls(method.body, ()):
                if not tests and (message := self._warning(module, each)):
                    return message
        return ""

    def _warning(self, module: Module, node: ast.expr) -> str:
        """The message of a call that warns of a deprecation, by itself or in a helper; empty for any other."""
        if not isinstance(node, ast.Call):
            return ""
        last = _last_name(node.func)
        if "warn" in last.lower() and node.args:
            text = " ".join(self._text(module, each) for each in node.args)
            if _DEPRECATED.search(text):
                return text
        if isinstance(node.func, ast.Name) and "deprecat" in last.lower():
            helper = module.definitions.get(node.func.id)
            if isinstance(helper, ast.FunctionDef):
                return " ".join(self._text(module, each) for each in node.args) or self._helped(module, helper)
        return ""

    def _helped(self, module: Module, helper: ast.FunctionDef) -> str:
        for call, _ in _calls(helper.body, ()):
            if isinstance(call, ast.Call) and "warn" in _last_name(call.func).lower() and call.args:
                return self._text(module, call.args[0])
        return ""

    def _made_deprecated(self, module: Module, call: ast.Call) -> str:
        """The message of a function that is made of another one by a helper whose inner function warns."""
        helper = module.definitions.get(_last_name(call.func))
        if not isinstance(helper, ast.FunctionDef) or "deprecat" not in helper.name.lower():
            return ""
        return f"deprecated in favor of {', '.join(ast.unparse(each) for each in call.args)}"

    def _decorated(self, module: Module, decorator: ast.expr) -> str | None:
        if isinstance(decorator, ast.Call) and _last_name(decorator.func) in ("deprecated", "_deprecated"):
            return self._text(module, decorator.args[0]) if decorator.args else ""
        return None

    def _added_docstring(self, module: Module, statement: ast.stmt) -> Iterator[Said]:
        """What is said in a docstring that is put on a function of C++."""
        if not (isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call)):
            return
        call = statement.value
        if _last_name(call.func) not in _DOCSTRING_ADDERS or len(call.args) < 2:
            return
        text = self._text(module, call.args[1])
        match call.args[0]:
            case ast.Constant(value=str(method)):
                yield from _documented("torch._tensor", f"Tensor.{method}", text)
            case ast.Attribute() as function if ast.unparse(function).startswith("torch."):
                owner, _, name = ast.unparse(function).rpartition(".")
                yield from _documented(owner, name, text)
            case _ if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                yield from _documented(module.name, statement.targets[0].id, text)

    def _text(self, module: Module, node: ast.expr, depth: int = 0) -> str:
        """The text of a message as far as it is written out; what is put in is shown in braces."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.JoinedStr(values=values):
                return "".join(self._text(module, each) for each in values)
            case ast.FormattedValue(value=value):
                return "{" + ast.unparse(value) + "}"
            case ast.BinOp(left=left, right=right):
                return self._text(module, left, depth) + self._text(module, right, depth)
            case ast.Name(id=name) if name in module.values and depth < 4:
                return self._text(module, module.values[name], depth + 1)
            case ast.Name(id=name) if name in module.imported and depth < 4:
                if (home := self._library.resolved(module.imported[name])) is not None and home[1] in home[0].values:
                    return self._text(home[0], home[0].values[home[1]], depth + 1)
            case ast.Call(func=function, args=[first, *_]):
                return self._text(module, first, depth) or ast.unparse(function)
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                return self._text(module, text, depth)
        return ""


def _documented(module: str, name: str, text: str) -> Iterator[Said]:
    if "eprecated" not in text:
        return
    found = _of_the_whole(text)
    if found is not None and not _is_of_parameter(text, found.start()):
        start = text.rfind("\n", 0, found.start()) + 1
        yield Said(module, name, "", " ".join(text[start : found.end() + 240].split()), "docstring")
    for parameter in _PARAMETER.finditer(text):
        word = _DEPRECATED_PARAMETER.match(parameter["rest"]) or _DEPRECATED_PARAMETER.search(parameter["rest"])
        if word is None or (word.start() and "::" not in word.group()):
            continue  # nothing, or a word further on in its description
        said = parameter.group() if not word.start() else parameter["rest"][word.start() :]
        yield Said(module, name, parameter["name"], " ".join(said.split()), "docstring", when=GIVEN)


def _of_the_whole(text: str) -> re.Match[str] | None:
    """What says first that a function or class is deprecated; looked for around that word, as the texts are long."""
    for word in _WORD.finditer(text):
        start = word.start()
        for _ in range(_LINES_BEFORE):
            start = max(text.rfind("\n", 0, start), 0)
        if found := _DOCUMENTED.search(text, start, word.end() + _BEHIND):
            return found
    return None


def _renamed_parameters(module: str, name: str, decorator: ast.expr) -> Iterator[Said]:
    """The flags that torchvision takes for weights: ``@handle_legacy_interface(weights=("pretrained", Weights.DEFAULT))``."""
    if not (isinstance(decorator, ast.Call) and _last_name(decorator.func) == "handle_legacy_interface"):
        return
    for new in decorator.keywords:
        match new.value:
            case ast.Tuple(elts=[ast.Constant(value=str(old)), meant]):
                meant = meant.body.orelse if isinstance(meant, ast.Lambda) and isinstance(meant.body, ast.IfExp) else meant
                weights = "None" if isinstance(meant, ast.Constant) else repr(_last_name(meant))
                message = f"The parameter {old!r} is deprecated, please use {new.arg!r} instead."
                yield Said(module, name, old, message, "decorator", when=GIVEN, replacement=f"{new.arg}={weights}")


def _is_of_parameter(text: str, offset: int) -> bool:
    """Whether a place in a docstring is in the list of arguments, or below it."""
    arguments = re.search(r"^\s*(?:Args|Arguments|Keyword args|Parameters|Attributes|Returns|Example)s?:", text, re.MULTILINE)
    return arguments is not None and arguments.start() < offset and ".. " not in text[offset : offset + 3]


def _calls(body: list[ast.stmt], tests: tuple[ast.expr, ...]) -> Iterator[tuple[ast.expr, tuple[ast.expr, ...]]]:
    """The expressions that are statements, with the conditions that they stand under."""
    for statement in body:
        match statement:
            case ast.Expr(value=value):
                yield value, tests
            case ast.If(test=test, body=inner, orelse=orelse):
                yield from _calls(inner, (*tests, test))
                yield from _calls(orelse, (*tests, ast.UnaryOp(ast.Not(), test)))
            case ast.With(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                yield from _calls(inner, tests)
            case ast.Try(body=inner):
                yield from _calls(inner, tests)


def _owner(name: str) -> str:
    """What is deprecated if a function of this name warns: the class if it is its constructor."""
    owner, _, last = name.rpartition(".")
    return owner if last in _SETUP else name


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _last_name(function)
    return ""
