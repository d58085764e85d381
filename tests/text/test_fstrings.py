"""What is within f-strings stands where the text has it, on every Python.

From 3.12 on Python's own positions are right, so that there the same tests hold the expected values against the parser.
"""

from __future__ import annotations

import ast
import re
import sys
import time

import pytest

from torchlint.text.pythons.fstrings import correct_positions, is_placed
from torchlint.text.source import Source

WRONG = 1, 0, 1, 1


def parse(text: str) -> Source:
    """The source of ``text``; before Python 3.12 with all positions wrong, not just those that Python has wrong."""
    tree = ast.parse(text)
    if sys.version_info < (3, 12):
        scramble(tree)
    return Source(text, tree=tree)


def scramble(tree: ast.Module) -> None:
    for string in ast.walk(tree):
        if isinstance(string, ast.JoinedStr):
            for value in string.values:
                for node in ast.walk(value):
                    if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = WRONG


def unmark(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks « and », and the spans that they enclose."""
    marks = [match.start() - count for count, match in enumerate(re.finditer("[«»]", marked))]
    return re.sub("[«»]", "", marked), list(zip(marks[::2], marks[1::2], strict=True))


NAMES = {
    "one field": 'f"{«x»}"',
    "a text that comes before": 'f"x {«x»} x {«x»} x"',
    "the same expression twice": 'f"{«loss».item()} {«loss».item()} {«loss»}"',
    "a name within another": 'f"{«xx»}{«x»}{«xxx»}{«x»}"',
    "spaces": 'f"{  «x»  }{«x» }"',
    "doubled braces": 'f"{{x}} {{{«x»}}} }}{«x»}{{"',
    "characters of several bytes": 'f"é{«x»}→{«y»}𝔸{«ñ»}é{«z»}"',
    "conversions": 'f"{«x»!r} {«y»!s:>5} {«z»!a}"',
    "for debugging": 'f"{«x»=} {«y» = } {«z»=!r:^20} {«a».b == «c»=}"',
    "comparisons": 'f"{«a»!=«b»} {«a»==«b»} {«a»<=«b»} {«a»>=«b»} {«a»<«b»} {«a»>«b»!r}"',
    "format specs": 'f"{«x»:{«width»}.{«precision»}f} {«y»:>{«width»}} {«z»:%Y-%m-%d}"',
    "a format spec with a conversion": 'f"{«x»:{«fill»!s}>{«width» + 1}}"',
    "an empty format spec": 'f"{«x»:}{«y»}"',
    "a format spec like a walrus": 'f"{«x»:=5} {(«y»:=5)} {«y»}"',
    "strings in expressions": """f"{«d»['}']} {«d»['{']} {«d»['x:!=']} {«d»['#']} {«d»['''a'b''']} {«d»['']}" """,
    "brackets in expressions": 'f"{ {«a»: «b»}[«a»]} {«x»[«i»:«j»]} {(lambda n: «n»)(«x»)} {[«i» for «i» in {«x»: 1}]}"',
    "calls": 'f"{«f»(«x», *«y», key=«z», **«k»)} {«f»(«x», key=«z»)}"',
    "a conditional": 'f"{«x» if «y» else «z»}"',
    "await and yield": 'async def f():\n    f"{await «x»}"\n\ndef g():\n    f"{(yield «x»)}"',
    "tuples": 'f"{«x», «y»} {«x»,} {*«x», «y»} {(«x», «y»)}"',
    "one in another": """f"x {f'x {«x»} {«x»}'} {«x»}" """,
    "three deep": "f'''x {f\"x {f'x {«x»}'} {«x»}\"} {«x»}'''",
    "one in another over lines": "f'''\nx {f\"\"\"\n  x {«x»}{\n«x»} {«y»\n, «x»}\n\"\"\"}\n{«x»}'''",
    "one in an argument of another": """f"{', '.join(f'{«k»}={«v»!r}' for «k», «v» in «d».items())}" """,
    "prefixes": """f"{«x»}" F"{«x»}" rf"{«x»}" fr"{«x»}" Rf"{«x»}" fR"{«x»}" RF"{«x»}" """,
    "raw strings": r"""rf"\{«x»} \\{«x»} \N{«x»} \d{«x»} \"{«x»}" """,
    "escapes": r"""f"\\{«x»} \n{«x»} \"{«x»} \x41{«x»} \N{BULLET}{«x»} \N{LEFT CURLY BRACKET}{«x»}" """,
    "an escape in a format spec": r"""f"{«x»:\N{BULLET}>{«w»}} {«x»:\x20>5}" """,
    "triple quotes": 'f"""\n  {«x»} "quoted" {«x»}\n\n {«y»}"{«x»}"{«z»}\\""""',
    "an expression over lines": 'f"""a {\n  «x»\n  + «x».y(\n    «z»)\n} {«x»:{\n«w»}}"""',
    "a line continued in the string": 'f"x \\\n {«x»} \\\n{«x»}"',
    "several strings": 'f"{«x»}" f"{«x»}" "x {x}" f"{«x»}"',
    "several strings over lines": '(\n    f"{«x»} x"\n    "x"  # f"{x}"\n\n    # "\n    f"x {«x»}" \'{x}\' f\'{«x»}\'\n)',
    "several strings over continued lines": 'f"x {«x»}" \\\n    "" \\\n  f"x {«x»}"',
    "strings of other kinds between": r"""f"{«x»}" r"\" {x}" u"{x}" '''"{x}"''' "\"{x}" f"{«x»}" """,
    "strings without text": '"" f"" f"{«x»}" "" f"" "" f"{«y»}" ""',
    "a first string without f": '"""x\n{x}""" f"{«x»}"',
    "in a decorator": '@«d»(f"{«x»}")\ndef f(): ...\n\n\n@«d»(f"{«y»}",\n   f"{«z»}")\nclass C: ...',
    "in defaults, bases, keywords": 'def f(a=f"{«x»}", *, b: f"{«y»}" = 1): ...\nclass C(«B», k=f"{«z»}"): ...',
    "in a comprehension": '[\n    f"{«x»}"\n    for «x» in «y»\n    if f"{«x»}"\n]',
    "in patterns and handlers": 'try: ...\nexcept «E»:\n    «print»(f"{«x»}")\nwith «o»(f"{«x»}"): ...',
    "in an assertion": 'assert «x», (\n    f"x {«x».shape} "\n    f"x {«x».data[0]}"\n)',
    "carriage returns": '(f"{«x»}"\r\n f"""x\r\n{«x»}\r\n""")\r\n«y»',
    "carriage returns alone": '(f"{«x»}"\r f"""x\r{«x»}{\r«z»}""")\r«y»',
    "separators that end no line": 'f"""\x0c\u2028\x85{«x»}\x0b{«y»}"""\x0c\n«z»; f"{«x»}"',
    "at the end of the file": 'f"{«x»}" f"{«y»}" "x"',
    "two on a line": '«f»(f"{«x»}", f"{«x»}"); f"{«x»}"',
    "strings that look like one": """'f"{x}"'; "f'"; f"{«x»}"; 'f'; «f»['f']""",
}


@pytest.mark.parametrize("marked", NAMES.values(), ids=NAMES.keys())
def test_names_stand_where_the_text_has_them(marked: str) -> None:
    text, spans = unmark(marked)
    source = parse(text)
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    assert sorted((source.start(name), source.end(name)) for name in names) == spans


SEGMENTS: list[tuple[type[ast.expr | ast.keyword | ast.arg], str, list[str]]] = [
    (ast.Attribute, 'f"loss.data[0] {loss.data[0]} {loss . data}"', ["loss.data", "loss . data"]),
    (ast.Subscript, "f\"{d['a']} {loss.data[0]!r:>{w[1]}}\"", ["d['a']", "loss.data[0]", "w[1]"]),
    (ast.Call, 'f"é {loss.item():.3f} {(f(g(x)))}"', ["loss.item()", "f(g(x))", "g(x)"]),
    (ast.Call, 'f"""{\n  f(x,\n    y)}"""', ["f(x,\n    y)"]),
    (ast.Tuple, 'f"{a, b}{ a, }{(a, b)}{*a, b !r}"', ["a, b", "a,", "(a, b)", "*a, b"]),
    (ast.Starred, 'f"{*a, b} {f(*c)}"', ["*a", "*c"]),
    (ast.keyword, 'f"{f(x, k=x, **x)}"', ["k=x", "**x"]),
    (ast.arg, 'f"{(lambda a, *b: a)}"', ["a", "b"]),
    (ast.Yield, 'def g():\n    f"{yield x}{(yield)}"', ["yield x", "yield"]),
    (ast.BinOp, 'f"{ (a + b) * c }"', ["(a + b) * c", "a + b"]),
    (ast.FormattedValue, 'f"a{x}{{{ y!r:>{w}}}}" "b" f"{z = }"', ["{x}", "{ y!r:>{w}}", "{w}", "{z = }"]),
    (ast.JoinedStr, """f"{x:>{w}} {y:} {f'{z}'}" """, ["""f"{x:>{w}} {y:} {f'{z}'}\"""", ":>{w}", ":", "f'{z}'"]),
    (ast.Constant, 'f"a{{{x[0]:.2f}b" "c" f"d{x[1]}"', ["a{{", "0", ".2f", 'b" "c" f"d', "1"]),
    (ast.Constant, '"a" f"b{x = }" f"" "c"', ['"a" f"b{x = ', '"c"']),
]


@pytest.mark.parametrize(("kind", "text", "segments"), SEGMENTS)
def test_nodes_cover_their_text(kind: type[ast.expr], text: str, segments: list[str]) -> None:
    source = parse(text)
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, kind)]
    assert [
        source.segment(node) for node in sorted(nodes, key=lambda node: (source.start(node), -source.end(node)))
    ] == segments


def test_nodes_stay_the_same_objects() -> None:
    text = 'f"{x.y}"'
    tree = ast.parse(text)
    before = list(ast.walk(tree))
    assert all(a is b for a, b in zip(before, ast.walk(Source(text, tree=tree).tree), strict=True))


@pytest.mark.parametrize(
    ("parsed", "text"),
    [
        pytest.param('f"{a}{b}"', 'f"{a}{c}"', id="another name"),
        pytest.param('f"{a}{b}"', 'f"{a}bcd"', id="too few fields"),
        pytest.param('f"{a}bcd"', 'f"{a}{b}"', id="too many fields"),
        pytest.param('f"{a:bc}"', 'f"{a!r }"', id="no format spec"),
        pytest.param('f"{a:{b}}"', 'f"{a:(b)}"', id="no field in the format spec"),
        pytest.param('f"{f(a)}"', 'f"{f[a]}"', id="another kind of node"),
        pytest.param('f"{f(a)}"', 'f"{f(a }"', id="no expression"),
        pytest.param('f"{[a, b]}"', 'f"{[a   ]}"', id="fewer elements"),
        pytest.param('f"{a}"', '[f"a"]', id="no string"),
    ],
)
def test_what_does_not_read_like_its_nodes_is_unplaced(parsed: str, text: str) -> None:
    tree = ast.parse(f"{parsed}; name")
    source = Source(f"{text}; name", tree=tree)
    correct_positions(tree, source.text)

    string, name = (statement.value for statement in tree.body if isinstance(statement, ast.Expr))
    within = [node for node in ast.walk(string) if isinstance(node, ast.expr) and node is not string]
    assert within
    assert not any(is_placed(node) for node in within)
    assert {(node.lineno, node.col_offset) for node in within} == {(1, 0)}
    with pytest.raises(AssertionError):
        source.segment(within[0])
    assert is_placed(string) and source.segment(string) == text
    assert is_placed(name) and source.segment(name) == "name"


def test_an_unplaced_string_leaves_the_others_placed() -> None:
    tree = ast.parse("""f"{a}"; f"{b} {f'{c}'}"; f"{d}" """)
    source = Source("""f"{a}"; f"{b} {f'{x}'}"; f"{d}" """, tree=tree)
    correct_positions(tree, source.text)

    names = {node.id: node for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert [name for name in sorted(names) if is_placed(names[name])] == ["a", "b", "d"]
    assert [source.start(names[name]) for name in "abd"] == [3, 11, 28]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param('f"' + "é{x}" * 20_000 + '"', id="many fields"),
        pytest.param("[" + 'f"é{x}",' * 20_000 + "]", id="many strings on a line"),
        pytest.param("(" + 'f"{x}"\n' * 20_000 + ")", id="many strings in one"),
        pytest.param('f"{[' + "x," * 50_000 + ']}"', id="a long expression"),
        pytest.param('f"' + r"\\" * 200_000 + '{x}"', id="a long literal"),
    ],
)
def test_long_strings_take_no_longer_than_their_length(code: str) -> None:
    tree = ast.parse(code)
    source = Source(code, tree=tree)
    start = time.perf_counter()
    correct_positions(tree, source.text)
    assert time.perf_counter() - start < 20  # about 1; where each part reads all the others again, minutes
    assert all(is_placed(node) for node in ast.walk(tree) if isinstance(node, ast.Name))
