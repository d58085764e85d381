"""Code in syntax newer than the Python that runs is read, linted and fixed as the newer Python would read it.

From the Python on that knows the syntax, the same tests hold the expected values against its own parser.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tokenize
from pathlib import Path

import pytest

import torchlint
from command import torchlint_
from torchlint.text.pythons.newer_code import read
from torchlint.text.source import Source, SourceError, parses

OLD = 3, 11
"""A Python that knows nothing of what is tested here."""


def unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks « and », and the spans that they enclose."""
    marks = [match.start() - count for count, match in enumerate(re.finditer("[«»]", marked))]
    return re.sub("[«»]", "", marked), list(zip(marks[::2], marks[1::2], strict=True))


# In each, every name that is used or assigned is marked.
TYPE_PARAMETERS = {
    "a function": "def f[T](x: «T»): «x»",
    "bounds": "def f[T: «int», U: («A», «B»), V: «a».b[«c»]](x): «x»",
    "stars": "class A[*Ts, **P](«B»[*«Ts»]): «x»",
    "a class without bases": "class A[T]: «x»",
    "a class with no bases": "class A[T](): «x»",
    "a class with bases": "@«d»\nclass A[T: «int»](«B», metaclass=«M»): «x»",
    "an async function": "class A:\n    async def f[T](self, x: «T») -> «T»:\n        return «x»",
    "no space and much": "def f[ T ] (x): «x»\nclass A  [T,]  :  «x»",
    "several lines": "def f[\n    T: «int»,\n\n    U,  # a comment ]\n](x):\n    return «x»",
    "several lines of a class": "class A[\n  T,\n  # ](\n\n  U: («B»,\n «C»)\n]:\n    «x»",
    "a backslash": "def f[T] \\\n  (x): «x»",
    "characters of several bytes": "def é[Té: «ñ»](é='é', y=«z»): «é»; «x»",
    "brackets in brackets": "def f[T: «a»['x[', «b»](«c»), U: {«d»: «e»}](x): «x»",
    "one in the other": "class A[T]:\n    def f[U](self):\n        class B[V]: «x»\n        return «B»[«y»]",
    "beside stars in subscripts": "class A[T, *Ts](«B»[«T», *«Ts»]): «a»[*«b»]\ndef f[*Ts](*args: *«Ts»): «args»",
    "CRLF": "def f[\r\n    T: «int»,\r\n](x):\r\n    return «x»",
    "CR": "class A[\rT: «int»,\r]:\r    «x»",
    "strings like it": "def f[T](x='def g[T](x)'): «x»  # class A[T]: x\n'''\nclass A[T]: x\n'''",
}
TYPE_STATEMENTS = {
    "plain": "type «X» = «int» | «B»",
    "parameters": "type «X»[T: «int», *Ts, **P] = «dict»[«T», «B»]",
    "in a block": "if «c»: type «X» = «int»\nelse:\n    «x»; type «Y» = «B»; «y»",
    "several lines": "type «X»[\n    T,  # a comment\n    U,\n] = (\n    «int»\n)\n«x»",
    "a first line break": "type «X»[\n\n\tT: «b»] = «int»",
    "a backslash": "type \\\n«X» \\\n = «int»",
    "an async loop": "async def f():\n    async for «x» in «y»: type «X» = «x»",
    "the name itself": "type «type» = «int»\n«type» = 1\n«type»(«x»)[0]",
}
DEFAULTS = {
    "a default": "def f[T = «int», U: «A» = «B»](x): «x»",
    "of stars": "class A[*Ts = *«tuple»[«a», «b»], **P = [«c», «d»]]: «x»",
    "a comparison": "class A[T: «a»[«b» == «c»] = «d»]: «x»",
    "of a type statement": "type «X»[T: «a» = «b»] = «T»",
}
F_STRINGS = {
    "the same quotes": 'f"{«d»["k"]} {«f»("a" "b", «x»)}" + «y»',
    "the same triple quotes": 'f"""{«d»["""k"""]}""" + «y»',
    "the same quotes in a spec": 'f"{«x»:{«d»["k"]}>{«w»}}" + «y»',
    "backslashes": r'f"{"\n".join(«x»)} \"{«y»}\" {«d»["\""]} \\{«z»}"',
    "a raw one": r'rf"\{«x»["\d"]}\"\\{«y»}" + «z»',
    "newlines": 'f"{\n  «x»\n  +  «y»\n}" + «z»',
    "newlines and a spec": 'f"{\n  «x»\n  :>{ \n «y» }}" + «z»',
    "comments": 'f"{«x»  # a comment with " and }\n }" + «y»; f"""{ # {\n«z»!r # }\n:5}"""',
    "an assignment expression": 'f"{(«x»:=«d»["k"])} {«x»:=5}"',
    "comparisons": 'f"{«d»["k"]!=«x»} {«d»["k"]==«x»!r} {«a» <= «b»} {«a»>=«d»["k"]:3}"',
    "for debugging": 'f"{«d»["k"] = } {«d»["k"]=!s} { «x» =:>{«w»}} {«y» # a comment\n = }"',
    "tuples": 'f"{«d»["k"], «x»} { *«a», «b»["k"] }{ («d»["k"],) }"',
    "yield and await": 'async def f():\n    f"{await «x»["k"]}{yield «y»["k"]}"; «z»',
    "comprehensions and lambdas": 'f"{[«i» for «i» in «d»["k"]]} {(lambda i: «i»["k"])(«x»)} { {«a»: «b»["k"]} }"',
    "one in the other": 'f"{f"{«x»}"}{f"{f"{«y»}"}" + «z»}"; «w»',
    "five deep": 'f"{f"{f"{f"{f"{«x»}"}"}"}"}" + «y»',
    "several strings": '(f"{«d»["k"]}" "{x}"\n  # "\n  f"{«x»}" \'"\'\n  f"{«y»}") + «z»',
    "several strings on continued lines": 'f"{«d»["k"]}" \\\n    "{x}" \\\n  f"{«x»}"; «y»',
    "the first of them plain": '"{x}" f"{«d»["k"]}" + «y»',
    "doubled braces": 'f"{{x}} {{{«d»["k"]}}} }}{«x»}{{" + «y»',
    "triple quotes": 'f"""\n  {«d»["""k"""]} "quoted" {«x»}\n\n {«y»}"{«z»}\\""""; «w»',
    "characters of several bytes": 'f"é{«é»["é"]}→{«y»}" + «z»; f"ñ{«ñ»["ñ"]}" % «x»',
    "named characters": r'f"\N{BULLET}{«d»["k"]}\N{LEFT CURLY BRACKET}{«x»:\N{BULLET}{«w»}}" + «y»',
    "a backslash before a brace": r'f"\{«d»["k"]}\\{«x»}" + «y»',
    "the end of a string": 'f"""{«d»["""k"""]} "{«x»}\'""" + «y»',
    "prefixes": "F'{«d»['k']}'; rF'{«d»['k']}'; Fr'{«d»['k']}'; «f»['k']; «rf»",
    "others left alone": """f"{«d»['k']}" + f'{«x»}' + f"{«d»["k"]}" + f"{f'{«y»:>{«w»}}'}" """,
    "CRLF": '(f"{«x»}"\r\n f"""x\r\n{«d»["k"]}{\r\n«z»}\r\n""")\r\n«y»',
    "CR": '(f"{«x»}"\r f"""x\r{«d»["k"]}{\r«z»}""")\r«y»',
    "where expressions stand": '«f»(f"{«d»["k"]}", «x», k=f"{«d»["k"]}")[f"{«d»["k"]}"].y',
    "as a statement": 'f"{«d»["k"]}"\ndef f():\n    f"{«d»["k"]}"\n    return f"{«d»["k"]}"',
    "beside type parameters": 'def f[T: «int»](x=f"{«d»["k"]}") -> «T»: f"{«x»["k"]}"',
}
SNIPPETS = {
    f"{group}: {name}": marked
    for group, snippets in (
        ("type parameters", TYPE_PARAMETERS),
        ("type statements", TYPE_STATEMENTS),
        ("f-strings", F_STRINGS),
        ("defaults", DEFAULTS),
    )
    for name, marked in snippets.items()
}


@pytest.mark.parametrize("marked", SNIPPETS.values(), ids=SNIPPETS.keys())
def test_names_stand_where_the_text_has_them(marked: str) -> None:
    text, spans = unmark(marked)
    source = Source(text)
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    assert sorted((source.start(name), source.end(name)) for name in names) == spans


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@pytest.mark.parametrize("marked", SNIPPETS.values(), ids=SNIPPETS.keys())
def test_trees_equal_those_of_the_python_that_knows_the_syntax(marked: str) -> None:
    text, _ = unmark(marked)
    try:
        native = ast.parse(text)
    except SyntaxError:
        pytest.skip("newer than the Python that runs")
    if sys.version_info < (3, 12) and 'f"' in text:
        pytest.skip("this Python has positions in f-strings wrong")
    newer = read(text, OLD)
    assert newer is not None
    assert as_of_3_12(ast.dump(newer.tree, include_attributes=True)) == as_of_3_12(ast.dump(native, include_attributes=True))


def as_of_3_12(dump: str) -> str:
    """A tree's dump without what Python 3.12 lacks or has too much."""
    dump = re.sub(r"(, )?Constant\(value='', [^)]*\)", "", dump)
    return dump.replace(", bound=None", "").replace(", default_value=None", "")


@pytest.mark.parametrize(
    "marked",
    [
        pytest.param('t"a {«x»} {«y».z!r:>{«w»}} {«v» = }"; «u»', id="fields"),
        pytest.param("t'{«d»['k']}' rT\"\\{«x»}\"; «f»(t'', «y»)", id="several"),
        pytest.param('f"{t"{«x»}"}" + t"{f"{«y»}"}"', id="in f-strings and around them"),
    ],
)
def test_fields_of_t_strings_are_read(marked: str) -> None:
    text, spans = unmark(marked)
    source = Source(text)
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    assert sorted((source.start(name), source.end(name)) for name in names) == spans


def test_texts_of_fstrings_are_those_that_they_print() -> None:
    text = r'''f"\x61{{ {d["k"]}\N{BULLET}{x = }" "\x62" rf"\d{y:\d}" f"""'\{z}"''' + '\n"""'
    joined = Source(text).tree.body[0].value  # type: ignore[attr-defined]
    assert [part.value for part in joined.values if isinstance(part, ast.Constant)] == ["a{ ", "•x = ", r"b\d", "'\\", '"\n']


# --- what is no Python ------------------------------------------------------------------------------------------------

INVALID = {
    "python 2": "print x\n",
    "python 2 with what looks newer": "print f'{x}'\nexec type\n",
    "python 2 handlers": "try: x\nexcept A, e: y\n",
    "an operator is missing": "x = y f'{x}'\n",
    "a string is not closed": 'x = f"{d["k"]}\n',
    "a bracket is not closed": "def f[T(x): y\n",
    "a field is not closed": 'f"{d["k"]"\n',
    "no expression": 'f"{}{d["k"]}"\n',
    "a comment for an expression": 'f"{ # x\n}"\n',
    "no known conversion": 'f"{d["k"]!x}"\n',
    "a single brace": 'f"}{d["k"]}"\n',
    "two expressions": 'f"{x y}{d["k"]}"\n',
    "a statement": 'f"{x = 1}{d["k"]}"\n',
    "parentheses that match outside": 'f"{x) + (y}{d["k"]}"\n',
    "a generator without parentheses": 'f"{x for x in d["k"]}"\n',
    "bytes beside": 'b"x" f"{d["k"]}"\n',
    "a t-string beside": 'f"x" t"{d["k"]}"\n',
    "a field that is called": 'y f"{d["k"]}"\n',
    "no type parameters": "def f[](x): y\n",
    "a number for a type parameter": "class A[1]: y\n",
    "a keyword for a type parameter": "class A[if]: y\n",
    "a bound that is none": "class A[T:]: y\n",
    "a bound of what has none": "class A[*Ts: int]: y\n",
    "a default that is none": "def f[T = ](x): y\n",
    "brackets and no parentheses": "def f[T]: y\n",
    "something else behind the brackets": "class A[T] = y\n",
    "a type statement without a value": "type X[T]\n",
    "a type statement of several names": "type X = Y = int\n",
    "a type statement in an expression": "(type X = int)\n",
    "an attribute for a type": "type x.y = int\n",
    "a pattern": 'match x:\n    case d[f"{d["k"]}"]: y\n',
}


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID.keys())
def test_what_no_python_knows_is_reported_as_it_always_was(text: str) -> None:
    with pytest.raises(SyntaxError) as native:
        ast.parse(text)
    with pytest.raises(SourceError) as error:
        _ = Source(text, "a.py").tree
    told = re.sub(r" \((this is syntax of|Python 2 code).*", "", error.value.error.message)
    assert told == f"cannot parse as Python {sys.version_info.major}.{sys.version_info.minor}: {native.value.msg}"
    assert error.value.error.location is not None
    assert error.value.error.location.row == native.value.lineno
    assert not parses(text)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
def test_an_error_where_newer_syntax_stands_says_which_python_knows_it() -> None:
    with pytest.raises(SourceError, match=r"a\.py:1:.*\(this is syntax of Python 3\.12: run torchlint with it\)"):
        _ = Source("class A[T]: x\n\ny = = 1\n", "a.py").tree
    with pytest.raises(SourceError, match=r"a\.py:1:.*: invalid syntax$"):
        _ = Source("y = = 1\n\nclass A[T]: x\n", "a.py").tree


# --- linting and fixing -----------------------------------------------------------------------------------------------

PROGRAM = """\
import torch
from torch.autograd import Variable

type Log[T] = list[T]


class Net[T: torch.nn.Module, *Ts](torch.nn.Module):
    def forward[
        U: (int, str),  # a comment

    ](self, x: U) -> U:
        print(f"{x["a"].data!r} {
            x.data  # shown
        :>{x["b"].data}}")
        return Variable(x)

    def log(self, x):
        return f"{f"{f"{f"{torch.ones(2).data}"}"}"}"
"""
FIXED = """\
import torch

type Log[T] = list[T]


class Net[T: torch.nn.Module, *Ts](torch.nn.Module):
    def forward[
        U: (int, str),  # a comment

    ](self, x: U) -> U:
        print(f"{x["a"].detach()!r} {
            x.detach()  # shown
        :>{x["b"].detach()}}")
        return x

    def log(self, x):
        return f"{f"{f"{f"{torch.ones(2).detach()}"}"}"}"
"""
CODES = ["TPL002", "TPL101"]


def test_findings_are_where_the_text_has_them() -> None:
    found = [(each.code, each.location.row, each.location.column) for each in torchlint.lint(PROGRAM, select=CODES)]
    assert found == [
        ("TPL002", 12, 18),
        ("TPL002", 13, 13),
        ("TPL002", 14, 12),
        ("TPL101", 15, 16),
        ("TPL002", 18, 28),
    ]


def test_fixes_are_made() -> None:
    result = torchlint.fix(PROGRAM, unsafe=True, select=CODES)
    assert result.text == FIXED
    assert result.remaining == result.broken == ()


def test_fixed_programs_are_python_for_another_parser_too() -> None:
    libcst = pytest.importorskip("libcst")
    assert libcst.parse_module(FIXED).code == FIXED


def test_a_log_keeps_no_tensor_that_it_prints() -> None:
    text = (
        "for x in batches:\n"
        "    loss = model(x).sum()\n"
        "    loss.backward()\n"
        '    lines.append(f"{loss} {x["k"]}")\n'
        "    losses.append(loss)\n"
    )
    assert [(each.code, each.location.row) for each in torchlint.lint(text, select=["TPL004"])] == [("TPL004", 5)]


def test_an_import_that_a_bound_uses_stays() -> None:
    text = "from torch.autograd import Variable\n\ndef f[T: Variable](x: T):\n    return Variable(x)\n"
    result = torchlint.fix(text, unsafe=True, select=["TPL101"])
    assert result.text == "from torch.autograd import Variable\n\ndef f[T: Variable](x: T):\n    return x\n"
    assert [(each.location.row, each.location.column) for each in result.remaining] == [(3, 10)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
def test_a_fix_brings_no_newer_syntax_into_a_file_that_has_none() -> None:
    assert not Source("f'{x}'").is_sound("f'{x['k']}'")
    assert Source("f'{x['j']}'").is_sound("f'{x['k']}'")
    assert not Source("x = y").is_sound("def f[T](x): y")


# --- comments ---------------------------------------------------------------------------------------------------------


def test_comments_in_fields_are_comments_and_text_is_none() -> None:
    text = 'def f[T,  # é 1\n](x):\n    f"""é # no\n {x["""k"""] # 2\n } # no\n"""; f"{x["#"]}"  # 3\n'
    assert [comment for _, comment in Source(text).comments] == ["# é 1", "# 2", "# 3"]
    assert [text.index(comment) for _, comment in Source(text).comments] == [start for start, _ in Source(text).comments]


def test_a_fix_that_would_lose_a_comment_in_a_field_is_not_offered() -> None:
    text = 'print(f"{\n    Variable(  # why\n        x["a"]\n    )\n}")\n'
    text = f"from torch.autograd import Variable\n{text}"
    result = torchlint.fix(text, unsafe=True, select=["TPL101"])
    assert "# why" in result.text


NOQA = {
    "on the line": 'import torch\ny = f"{x["k"]} {torch.ones(2).data}"  # noqa: TPL002\n',
    "in a field": 'import torch\ny = f"{x["k"]} {\n  torch.ones(2).data  # noqa: TPL002\n}"\n',
    "behind text of several lines": 'import torch\ny = f"""{x["k"]} {torch.ones(2).data}\n\n  """  # noqa: TPL002\n',
    "behind type parameters": "import torch\ndef f[T](x): y = torch.ones(2).data  # noqa: TPL002\n",
    "with carriage returns": 'import torch\r\ny = f"""{x["k"]} {torch.ones(2).data}\r\n\r\n  """  # noqa: TPL002\r\n',
}


@pytest.mark.parametrize("text", NOQA.values(), ids=NOQA.keys())
def test_noqa_comments_silence(text: str) -> None:
    assert torchlint.lint(text.replace("noqa", "none"), select=["TPL002"])
    assert not torchlint.lint(text, select=["TPL002"])


def test_noqa_comments_in_text_silence_nothing() -> None:
    text = 'import torch\ny = f"{x["k"]} {\n  torch.ones(2).data\n}  # noqa: TPL002"\n'
    assert [each.location.row for each in torchlint.lint(text, select=["TPL002"])] == [3]


def test_lines_in_long_strings_are_told_from_those_in_fields() -> None:
    text = 'y = f"""{\n    x["""k"""]\n}\n\n a {f"{z}"}\n"""\nz = 1\n'
    tokens = Source(text).tokens
    ends = [token.start[0] for token in tokens if token.type in (tokenize.NL, tokenize.NEWLINE)]
    assert ends == [1, 2, 6, 7]


def test_the_lines_of_a_long_string_are_not_indented() -> None:
    text = '''\
import torch


def init(layer: torch.nn.Linear, k):
    layer.weight.data.mul_(len(
        f"""
{k["""a"""]}
  b
"""
    ))
'''
    fixed = '''\
import torch


def init(layer: torch.nn.Linear, k):
    with torch.no_grad():
        layer.weight.mul_(len(
            f"""
{k["""a"""]}
  b
"""
        ))
'''
    assert torchlint.fix(text, unsafe=True, select=["TPL001"]).text == fixed


# --- the command, notebooks, hostile texts ----------------------------------------------------------------------------


def test_the_command_lints_fixes_and_silences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.py")
    path.write_text(PROGRAM)
    assert torchlint_("--select", "TPL002,TPL101", "--diff", "--unsafe-fixes", "a.py").stdout.count("\n-") == 6
    assert path.read_text() == PROGRAM

    assert torchlint_("--select", "TPL002,TPL101", "--add-noqa", "a.py").returncode == 0
    assert path.read_text().count("# noqa: TPL") == 5
    assert torchlint_("--select", "TPL002,TPL101", "a.py").returncode == 0

    path.write_text(PROGRAM)
    assert torchlint_("--select", "TPL002,TPL101", "--fix", "--unsafe-fixes", "a.py").returncode == 0
    assert path.read_text() == FIXED


def test_cells_of_notebooks_may_have_it() -> None:
    cells = [
        "import torch\n%matplotlib inline",
        'def f[T](x: T):\n    return f"{x["k"]}"',
        'print(f"{torch.ones(2).data} {"\\n"}")',
    ]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [cell]} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    result = torchlint.fix(json.dumps(notebook), filename="a.ipynb", unsafe=True, select=["TPL002"])
    codes = ["".join(cell["source"]) for cell in json.loads(result.text)["cells"]]
    assert codes == [*cells[:2], 'print(f"{torch.ones(2).detach()} {"\\n"}")']


@pytest.mark.parametrize(
    "code",
    [
        pytest.param('f"' + '{x["a"]}é' * 3_000 + '"', id="many fields"),
        pytest.param("[" + 'f"é{x["a"]}",' * 3_000 + "]", id="many strings on a line"),
        pytest.param("(" + 'f"{x["a"]}"\n' * 3_000 + ")", id="many strings in one"),
        pytest.param("def f[" + "T: int, " * 3_000 + "](): y", id="many type parameters"),
        pytest.param('f"{' * 140 + "x" + '}"' * 140, id="nested strings"),
        pytest.param('f"{x["a"]:{x:{x}' + ">{x}" * 3_000 + '}}"', id="a long spec"),
        pytest.param('f"{x["a"] # "\n' + '# "\n' * 20_000 + '}"', id="many comments"),
    ],
)
def test_long_and_deep_code_is_read(code: str) -> None:
    names = [node.id for node in ast.walk(Source(code).tree) if isinstance(node, ast.Name)]
    assert len(names) == code.count("x") + code.count("int") + code.count("y")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param('f"{' * 30_000, id="open fields"),
        pytest.param("def f[" * 30_000, id="open type parameters"),
        pytest.param("type X[" * 30_000, id="open type statements"),
        pytest.param('f"{x["a"]}' + "\\N{" * 30_000, id="open character names"),
        pytest.param('f"{x["a"]}"\n' + '"""a' * 30_001, id="an open string"),
        pytest.param('f"{x["a"]}";' + "[" * 30_000 + "]" * 30_000, id="too many brackets"),
        pytest.param('f"{x["a"]}" \0', id="a null character"),
        pytest.param('f"{x["a"]}" \ud800', id="a surrogate"),
        pytest.param('f"{' * 500 + "x" + '}"' * 500, id="too many strings in strings"),
    ],
)
def test_hostile_code_is_an_error(code: str) -> None:
    with pytest.raises(SourceError):
        _ = Source(code).tree
