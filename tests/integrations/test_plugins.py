"""A team's own rules: found, named, refused, and there in every part of torchlint as its own rules are."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import torchlint
from command import ROOT, environment
from torchlint.cli.main import main
from torchlint.rules import all_rules, own_rules, plugins
from torchlint.rules.plugins import PluginError

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = CHECKOUT / "docs" / "example-plugin"
GUIDE = (CHECKOUT / "docs" / "writing-rules.md").read_text(encoding="utf-8")

RULE = '''
import libcst as cst

from torchlint.rules import NOTHING, Call, Rule, expression, fix, replace


class Old(Rule):
    """
    ## What it does
    Finds `old()`.

    ## Fix safety
    Safe.
    """

    code = "ACM001"
    name = "old-call"
    triggers = (Call("old"),)

    def visit_Call(self, node: cst.Call) -> None:
        if self.model.shown(node.func) == "old":
            self.report(node, "an old call", fix("Call the new one", replace(node.func, expression("new")), rests_on=NOTHING))
'''
OLD = "import torch\nold()\n"
NEW = "import torch\nnew()\n"


class Site:
    """A folder of installed packages, made without an installer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: set[str] = set()

    def install(
        self,
        name: str = "acme_rules",
        rules: str = RULE,
        *,
        entry_point: bool = False,
        distribution: str = "",
        version: str = "1.0",
    ) -> Path:
        """Installs a package with these rules; gives the file that they are in."""
        self.names.add(name)
        package = self.folder / name
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "rules.py").write_text(rules)
        metadata = self.folder / f"{(distribution or name).replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution or name}\nVersion: {version}\n")
        (metadata / "RECORD").write_text(f"{name}/__init__.py,,\n{name}/rules.py,,\n")
        if entry_point:
            (metadata / "entry_points.txt").write_text(f"[torchlint.rules]\nacme = {name}\n")
        self.forget()
        return package / "rules.py"

    def forget(self) -> None:
        """Has this process know of no plugin, as a new one does."""
        plugins.named.cache_clear()
        plugins.installed.cache_clear()
        importlib.invalidate_caches()
        for module in [each for each in sys.modules if each.partition(".")[0] in self.names]:
            del sys.modules[module]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site beside a project, which is the working directory."""
    found = Site(tmp_path / "site")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.syspath_prepend(str(found.folder))
    yield found
    found.forget()


def configure(*lines: str, folder: str = ".") -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "torchlint.toml").write_text("\n".join(lines) + "\n")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command in this process; gives its exit code and output."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


Run = Callable[..., tuple[int, str, str]]


def lines(text: str) -> list[str]:
    """The lines of a report that speak of the plugin's rule."""
    return [line for line in text.splitlines() if "ACM001" in line]


# --- found -----------------------------------------------------------------------------------------------------------


def test_a_configuration_names_a_plugin_whose_rules_its_other_keys_know(site: Site, run: Run) -> None:
    site.install()
    Path("a.py").write_text(OLD)
    Path("b.py").write_text(OLD)
    configure(
        'select = ["ACM", "TPL005"]',
        'unfixable = ["ACM001"]',
        'plugins = ["acme_rules"]',
        "[per-file-ignores]",
        '"b*" = ["ACM001"]',
    )
    code, out, err = run("-n", "--output-format", "concise")
    assert (code, lines(out), err) == (1, ["a.py:2:1: ACM001 an old call"], "")
    configure('plugins = ["acme_rules"]')
    assert run("-n", "--output-format", "concise", "a.py")[1].startswith("a.py:2:1: ACM001 [*] an old call\n")
    assert 'plugins = ["acme_rules"]' in run("--show-settings")[1]


def test_a_package_may_be_called_otherwise_than_its_module_and_a_plugin_be_a_part_of_it(site: Site, run: Run) -> None:
    site.install(distribution="acme-linting")
    Path("a.py").write_text(OLD)
    for name in ("acme_rules", "acme_rules.rules"):
        configure(f'plugins = ["{name}"]')
        assert run("-n", "a.py")[0] == 1


def test_a_plugin_with_the_entry_point_is_found_wherever_it_is_installed(site: Site, run: Run) -> None:
    site.install(entry_point=True)
    Path("a.py").write_text(OLD)
    assert run("-n", "a.py")[0] == 1
    assert run("-n", "--isolated", "a.py")[0] == 1
    configure('plugins = ["acme_rules"]')  # the same once more
    assert run("-n", "--select", "ACM", "--statistics")[1].startswith("1  ACM001  [*] old-call\n")


def test_a_named_plugin_runs_only_where_it_is_named(site: Site, run: Run) -> None:
    site.install()
    configure('plugins = ["acme_rules"]', folder="ours")
    configure("", folder="theirs")
    for folder in ("ours", "theirs"):
        Path(folder, "a.py").write_text(f"{OLD}p.requres_grad = False  # noqa: ACM001\n")
    assert [line.split(": ")[:1] for line in lines(run("-n", "--output-format", "concise")[1])] == [["ours/a.py:2:1"]]
    found = run("-n", "--output-format", "concise", "--select", "ACM,TPL900", "--fixable", "ACM001")[1]
    assert [line.partition("]")[0] for line in lines(found)] == [
        "ours/a.py:2:1: ACM001 [*",
        "ours/a.py:3:33: TPL900 `ACM001` silences nothing here: remove it from the comment",
    ]
    assert (
        run("-n", "--select", "ACM", "theirs")[2]
        == "torchlint: error: unknown rule code `ACM`; `torchlint rule --all` lists them\n"
    )
    assert run("-n", "--select", "ACM2")[0] == 2


def test_rules_made_of_a_shared_base_and_of_several_modules(site: Site) -> None:
    more = dedent("""
        from torchlint.rules import Rule, Word
        from acme_rules.rules import Old

        class Base(Rule):
            since = Old.since
            triggers = (Word("two"),)

        class One(Base):
            code, name, triggers = "ACM002", "one", (Word("one"),)

        class Two(Base):
            code, name = "ACM003", "two"
    """)
    path = site.install()
    path.with_name("more.py").write_text(more)
    assert [rule.code for rule in plugins.named("acme_rules")] == ["ACM002", "ACM003", "ACM001"]
    assert [rule.code for rule in all_rules(["acme_rules"])] == [
        "ACM001",
        "ACM002",
        "ACM003",
        *(rule.code for rule in own_rules()),
    ]


ANALYSIS = """
import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics

E = TypeVar("E")


@dataclass(frozen=True)
class Twice(Generic[E]):
    first: E


class Calls:
    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def repeated(self) -> dict[ast.Call, Twice[ast.expr]]:
        seen, found = {}, {}
        for call in self._semantics.tree.of_type(ast.Call):
            name = ast.unparse(call.func)
            if name in seen:
                found[call] = Twice(seen[name])
            seen.setdefault(name, call)
        return found
"""


def test_a_rule_with_an_analysis_of_its_own(site: Site) -> None:
    path = site.install(
        rules=dedent("""
            import libcst as cst
            from acme_rules.analysis import Calls
            from torchlint.rules import Found, Rule

            class Repeated(Rule):
                code, name, triggers = "ACM004", "repeated", (Found("acme_rules.analysis:Calls.repeated"),)

                def visit_Call(self, node: cst.Call) -> None:
                    twice = self.model.found(self.model.semantics.of(Calls).repeated, node)
                    if twice is not None:
                        self.report(node, f"as on line {self.model.line(twice.first)}: {self.model.shown(twice.first)}")
        """)
    )
    path.with_name("analysis.py").write_text(ANALYSIS)
    found = torchlint.lint("once()\nif once():\n    twice(1)\ntwice(2)\n", plugins=["acme_rules"], select=["ACM"])
    assert [(each.location.row, each.message) for each in found] == [(2, "as on line 1: once()"), (4, "as on line 3: twice(1)")]


# --- refused ---------------------------------------------------------------------------------------------------------


def with_(old: str, new: str) -> str:
    assert old in RULE
    return RULE.replace(old, new)


BROKEN = {
    "cannot be imported: ModuleNotFoundError: No module named 'nonesuch'": "import nonesuch",
    "cannot be imported: SystemExit: 3": "raise SystemExit(3)",
    "cannot be imported: TypeError: Old.leave_Call: a rule visits nodes and does not leave them; ask the model instead": with_(
        "visit_Call", "leave_Call"
    ),
    "defines no rule, which is a subclass of torchlint.rules.Rule with a code": "",
    "the rule Old has no `code`": with_('code = "ACM001"', ""),
    "the rule Old has no `name`": with_('name = "old-call"', ""),
    "the rule Old has no `triggers`": with_('triggers = (Call("old"),)', ""),
    "'TPL001' is no code for a rule of a plugin, which has two or three capital letters": with_("ACM001", "TPL001"),
    "'TP001' is no code": with_("ACM001", "TP001"),
    "'ACME001' is no code": with_("ACM001", "ACME001"),  # nor can flake8 select it
    "'acm001' is no code": with_("ACM001", "acm001"),
    "1 is no code": with_('"ACM001"', "1"),
    "ACM001: 'Old call' is no name for a rule": with_("old-call", "Old call"),
    "ACM001: `triggers` is no tuple of triggers: Call(": with_('(Call("old"),)', 'Call("old")'),
    "ACM001: `triggers` is no tuple of triggers: ()": with_('(Call("old"),)', "()"),
    "ACM001: `visit_call` is never called: `visit_` is followed by the name of a libcst node": with_(
        "visit_Call", "visit_call"
    ),
    "ACM001: `visit_Call_func` is never called": with_("visit_Call", "visit_Call_func"),
    "ACM001: `severity` is 'bad', and none of error, warning": with_("triggers =", 'severity = "bad"\n    triggers ='),
    "ACM001: `needs` is no tuple of tuples of words: ('torch',)": with_("triggers =", 'needs = ("torch",)\n    triggers ='),
    "the code `ACM001` of its rule Other is also that of Old in `acme_rules.rules`": RULE
    + 'class Other(Old):\n    code, name = "ACM001", "other"\n',
}


@pytest.mark.parametrize(("said", "rules"), BROKEN.items(), ids=list(BROKEN))
def test_what_cannot_be_used_is_one_line_that_names_the_configuration_and_the_plugin(
    said: str, rules: str, site: Site, run: Run
) -> None:
    site.install(rules=rules)
    Path("a.py").write_text(OLD)
    configure('select = ["ACM"]', 'plugins = ["acme_rules"]')
    code, out, err = run("--fix")
    module = "acme_rules.rules" if "also that of" in said else "acme_rules"
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"torchlint.toml: error: `plugins`: plugin `{module}`: {said}")
    assert Path("a.py").read_text() == OLD


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('["acme_rulez"]', "plugin `acme_rulez`: no installed package is called so"),
        ('["json"]', "plugin `json`: no installed package is called so"),
        ('["../rules.py"]', "plugin `../rules.py`: not the name of a package"),
        ('[""]', "plugin ``: not the name of a package"),
        ('"acme_rules"', 'expected a list of strings, found "acme_rules"'),
    ],
)
def test_values_that_name_no_plugin(value: str, said: str, site: Site, run: Run) -> None:
    Path("pyproject.toml").write_text(f"[tool.torchlint]\nplugins = {value}\n")
    code, out, err = run()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"pyproject.toml: error: `tool.torchlint.plugins`: {said}")


def test_codes_of_two_plugins_may_not_clash(site: Site, run: Run) -> None:
    site.install()
    site.install("other_rules", entry_point=True)
    configure('plugins = ["acme_rules"]')
    assert run()[2] == (
        "torchlint.toml: error: `plugins`: plugin `acme_rules.rules`: the code `ACM001` of its rule Old is also that of Old in"
        " `other_rules.rules`\n"
    )


def test_metadata_that_no_installer_wrote(site: Site, run: Run) -> None:
    metadata = site.install(entry_point=True).parents[1] / "acme_rules-1.0.dist-info"
    Path("a.py").write_text(OLD)
    (metadata / "METADATA").unlink()
    assert run("-n")[0] == 1
    (metadata / "entry_points.txt").write_text("[torchlint.rules]\nacme = ?\n")
    site.forget()
    code, _, err = run("-n")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"torchlint: error: {metadata / 'entry_points.txt'}: the entry point torchlint.rules cannot be read")


@pytest.mark.parametrize(
    "arguments",
    [
        "a.py",
        "--show-settings",
        "rule TPL001",
        "rule --all",
        "prove TPL001",
        "test-rule TPL001",
        "generate-shell-completion bash",
    ],
)
def test_every_command_refuses_an_installed_plugin_that_is_broken(arguments: str, site: Site, run: Run) -> None:
    site.install(rules="import nonesuch", entry_point=True)
    Path("a.py").write_text(OLD)
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert err.partition(": ")[2] in (
        f"{start}plugin `acme_rules`: cannot be imported: ModuleNotFoundError: No module named 'nonesuch'\n"
        for start in ("error: ", "")
    )


def test_what_a_rule_raises_is_said_to_be_the_plugins(site: Site, run: Run) -> None:
    site.install(rules=with_("if self.model", "1 / 0\n        if self.model"), entry_point=True)
    Path("a.py").write_text(OLD)
    code, _, err = run("-n")
    assert code == 2
    assert err.startswith("a.py: error: error in the plugin `acme_rules` (rules.py:21): ZeroDivisionError: division by zero; ")


# --- never from what is linted ---------------------------------------------------------------------------------------

TRAP = "from pathlib import Path\nPath({trace!r}).touch()\n"


@pytest.mark.parametrize("way", ["module", "script", "PYTHONPATH"])
@pytest.mark.parametrize("really", ["installed", "not installed"])
def test_a_module_of_its_name_in_the_linted_folder_is_not_run(way: str, really: str, site: Site, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    if really == "installed":
        site.install(entry_point=True)
    Path("acme_rules.py").write_text(TRAP.format(trace=str(trace)))
    Path("acme_rules-1.0.dist-info").mkdir()
    Path("acme_rules-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme_rules\nVersion: 1.0\n")
    Path("acme_rules-1.0.dist-info/RECORD").write_text("acme_rules.py,,\n")
    Path("acme_rules-1.0.dist-info/entry_points.txt").write_text("[torchlint.rules]\nacme = acme_rules\n")
    Path("a.py").write_text(OLD)
    configure('plugins = ["acme_rules"]')
    script = tmp_path / "torchlint_script.py"
    script.write_text("import sys\nfrom torchlint.cli.main import main\nsys.exit(main())\n")
    command = [sys.executable, str(script)] if way == "script" else [sys.executable, "-m", "torchlint"]
    folders = [str(ROOT), str(site.folder)]
    if way == "PYTHONPATH":
        folders = ["", str(Path.cwd()), *folders]
    done = subprocess.run(
        [*command, "-n", "--output-format", "concise", "a.py"],
        env=environment(PYTHONPATH=os.pathsep.join(folders)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not trace.exists()
    if really == "installed" and way != "PYTHONPATH":
        assert "ACM001" in done.stdout
    else:  # the name leads to what is linted
        assert done.returncode == 2
        assert "plugin `acme_rules`" in done.stderr
        assert done.stderr.count("\n") == 1


# --- everywhere ------------------------------------------------------------------------------------------------------


def test_fixes_notebooks_and_comments(site: Site, run: Run) -> None:
    site.install(entry_point=True)
    Path("a.py").write_text(OLD)
    cell: dict[str, object] = {"cell_type": "code", "source": "old()", "metadata": {}, "outputs": [], "execution_count": None}
    Path("b.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    out = run("-n", "--output-format", "concise")[1]
    assert lines(out) == ["a.py:2:1: ACM001 [*] an old call", "b.ipynb:cell 1:1:1: ACM001 [*] an old call"]
    assert run("--add-noqa", "a.py")[0] == 0
    assert Path("a.py").read_text() == "import torch\nold()  # noqa: ACM001\n"
    assert run("-n", "--extend-select", "TPL900", "a.py")[0] == 0
    Path("a.py").write_text(f"{OLD}fine()  # noqa: ACM001, ACM9, XYZ001\n")
    assert run("--fix", "--show-fixes", "--extend-select", "TPL900", "a.py")[1].startswith(
        "Fixed 1 error and 1 warning:\n- a.py:\n    1 × ACM001 (old-call)\n    1 × TPL900 (unused-noqa)\n"
    )
    assert Path("a.py").read_text() == f"{NEW}fine()  # noqa: ACM9, XYZ001\n"
    assert run("--fix", "b.ipynb")[0] == 0
    assert json.loads(Path("b.ipynb").read_text())["cells"][0]["source"] == "new()"


def test_baselines(site: Site, run: Run) -> None:
    site.install(entry_point=True)
    Path("a.py").write_text(OLD)
    assert run("-n", "--write-baseline", "known.json", "a.py")[0] == 0
    assert run("-n", "--baseline", "known.json", "a.py")[0] == 0


@pytest.mark.parametrize("url", ["", "https://acme.example/old"])
def test_addresses_are_those_that_rules_declare(url: str, site: Site, run: Run) -> None:
    site.install(rules=with_("triggers =", f'url = "{url}"\n    triggers ='), entry_point=True)
    Path("a.py").write_text(f"{OLD}p.requres_grad = False\n")
    for _ in range(2):  # the second time from the cache
        ours, its = json.loads(run("--output-format", "json", "--cache-dir", "cache")[1])
        assert (ours["code"], ours["url"]) == ("ACM001", url or None)
        assert its["url"] == "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL005.md"
    [described, other] = json.loads(run("-n", "--output-format", "sarif")[1])["runs"][0]["tool"]["driver"]["rules"]
    assert (described["id"], described.get("helpUri", ""), other["id"]) == ("ACM001", url, "TPL005")
    assert described["shortDescription"] == {"text": "Finds `old()`."}
    assert json.loads(run("rule", "ACM001", "--output-format", "json")[1])["url"] == (url or None)
    for output_format in ("full", "grouped", "github", "gitlab", "junit", "json-lines"):
        assert "ACM001" in run("-n", "--output-format", output_format)[1]


def test_a_rule_without_a_page_has_its_name_for_a_description(site: Site, run: Run) -> None:
    site.install(
        rules="import libcst as cst\n" + with_('"""', "'''").replace("'''\n    ##", "x = '''\n    ##"), entry_point=True
    )
    Path("a.py").write_text(OLD)
    [described] = json.loads(run("-n", "--output-format", "sarif")[1])["runs"][0]["tool"]["driver"]["rules"]
    assert described["shortDescription"] == {"text": "old-call"}


def test_pages_lists_and_completion_know_the_plugins_of_the_configuration_here(site: Site, run: Run) -> None:
    site.install()
    configure('plugins = ["acme_rules"]')
    assert run("rule", "old-call")[1].startswith("# old-call (ACM001)\n")
    assert "ACM001  old-call" in run("rule", "--all")[1]
    assert "ACM001" in run("generate-shell-completion", "bash")[1]
    code, _, err = run("prove", "ACM001")
    assert (code, err) == (
        2,
        "torchlint prove: ACM001: of a plugin, whose fixtures are not here; `torchlint test-rule ACM001` runs its program\n",
    )


def test_a_changed_plugin_makes_old_results_void(site: Site, run: Run) -> None:
    path = site.install(entry_point=True)
    Path("a.py").write_text(OLD)

    def again() -> tuple[str, int]:
        site.forget()
        out = run("--output-format", "concise", "--cache-dir", "cache", "a.py")[1]
        return out.splitlines()[0], len([each for each in Path("cache").iterdir() if each.is_dir()])

    assert again() == again() == ("a.py:2:1: ACM001 [*] an old call", 1)
    path.write_text(with_("an old call", "an outdated call"))
    assert again() == ("a.py:2:1: ACM001 [*] an outdated call", 2)
    (path.parent / "table.json").write_text("{}")  # which the rule may read
    assert again()[1] == 3


@pytest.mark.parametrize("threads", [1, 2], ids=["fork", "spawn"])
def test_several_processes(threads: int, site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    site.install()
    configure('plugins = ["acme_rules"]', 'extend-select = ["TPL900"]')
    monkeypatch.setattr("torchlint.engine.workers.threading.active_count", lambda: threads)
    for name in "abcd":
        Path(f"{name}.py").write_text(f"{OLD}new()  # noqa: ACM001\n" + "#" * 50_000)
    code, out, err = run("-n", "-j", "2", "--output-format", "concise")
    assert (code, err) == (1, "")
    assert [line.split(" ")[:2] for line in lines(out)] == [
        each for name in "abcd" for each in ([f"{name}.py:2:1:", "ACM001"], [f"{name}.py:3:16:", "TPL900"])
    ]
    assert run("-j", "2", "--fix")[0] == 0
    assert {Path(f"{name}.py").read_text()[: len(NEW)] for name in "abcd"} == {NEW}


def test_library(site: Site) -> None:
    site.install()
    assert torchlint.lint(OLD) == []
    [found] = torchlint.lint(OLD, plugins=["acme_rules"], select=["ACM"])
    assert (found.code, found.url) == ("ACM001", None)
    assert torchlint.fix(OLD, plugins=["acme_rules"]).text == NEW
    assert torchlint.fix(OLD, plugins=["acme_rules"], unfixable=["ACM"]).text == OLD
    with pytest.raises(PluginError, match="plugin `acme_rulez`: no installed package"):
        torchlint.fix(OLD, plugins=["acme_rulez"])


def flake8(site: Site, *arguments: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("flake8")
    return subprocess.run(
        [sys.executable, "-m", "flake8", *arguments],
        env=environment(PYTHONPATH=os.pathsep.join([str(ROOT), str(site.folder)])),
        capture_output=True,
        text=True,
        check=False,
    )


def test_flake8_runs_what_is_installed_without_being_told(site: Site) -> None:
    site.install(entry_point=True)
    Path("a.py").write_text("old()\n")
    assert flake8(site, "--isolated", "a.py").stdout == "a.py:1:1: F821 undefined name 'old'\na.py:1:1: ACM001 an old call\n"
    assert flake8(site, "--isolated", "--select", "ACM", "a.py").stdout == "a.py:1:1: ACM001 an old call\n"
    assert flake8(site, "--isolated", "--select", "TPL", "a.py").stdout == ""


def test_flake8_runs_what_its_configuration_names(site: Site) -> None:
    site.install()
    Path("a.py").write_text("old()\n")
    assert "ACM" not in flake8(site, "a.py").stdout
    Path(".flake8").write_text("[flake8]\ntorchlint-plugins = acme_rules\nextend-ignore = F\n")
    assert flake8(site, "-j", "2", ".").stdout == "./a.py:1:1: ACM001 an old call\n"
    refused = flake8(site, "--torchlint-plugins", "acme_rulez", "a.py")
    assert refused.returncode == 1
    assert "torchlint: plugin `acme_rulez`: no installed package is called so" in refused.stdout


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_the_version_and_the_package_import_neither_rules_nor_libcst(site: Site) -> None:
    site.install(entry_point=True)
    program = """if True:
        import sys, torchlint, torchlint.cli.main
        sys.argv = ["torchlint", "--version"]
        try:
            torchlint.cli.main.main()
        finally:
            print([each for each in sys.modules if each.startswith(("torchlint.rules", "libcst", "acme_rules"))])
    """
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == f"torchlint {torchlint.__version__}\n[]\n"


def test_flake8s_side_does_nothing_when_it_is_imported(site: Site) -> None:
    pytest.importorskip("flake8")
    site.install(rules="import nonesuch", entry_point=True)
    program = "import sys, torchlint.flake8_plugin; print('acme_rules' in sys.modules, 'libcst' in sys.modules)"
    path = os.pathsep.join([str(ROOT), str(site.folder)])
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(PYTHONPATH=path), capture_output=True, text=True, check=True
    )
    assert done.stdout == "False False\n"


def test_a_test_of_a_rule_that_raises_goes_on_and_shows_where(site: Site, run: Run) -> None:
    site.install(rules=with_("if self.model", "1 / 0\n        if self.model"), entry_point=True)
    folder = Path("fixtures/acm001_old_call")
    folder.mkdir(parents=True)
    for name in ("bad", "fixed", "good"):
        (folder / f"{name}.py").write_text(OLD)
    code, out, err = run("test-rule", "ACM001")
    assert (code, err) == (1, "")
    shown = "FAILED\n    ZeroDivisionError: division by zero\n    rules.py:21: 1 / 0\n"
    assert f"  it leaves good.py alone: {shown}" in out
    assert f"  its fixes make fixed.py of bad.py: {shown}" in out


# --- the guide -------------------------------------------------------------------------------------------------------


def test_the_guide_shows_the_example() -> None:
    example = (EXAMPLE / "acme_rules" / "host_sum.py").read_text(encoding="utf-8")
    shown = code_block("# acme_rules/host_sum.py\n")
    head, _, body = shown.partition('    """(the rule\'s page: see step 5)"""\n')
    assert head in example
    assert body in example
    declared, its = tomllib.loads(code_block("# pyproject.toml\n")), tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    assert declared["project"].items() <= its["project"].items()
    assert declared["build-system"] == its["build-system"]
    assert all(path.exists() for path in (EXAMPLE / "fixtures/acm001_host_sum/good.py", EXAMPLE / "acme_rules/__init__.py"))


def code_block(start: str) -> str:
    """The block of code in the guide that starts so, without that."""
    return GUIDE.partition(f"\n{start}")[2].partition("```")[0]


@pytest.mark.slow
def test_the_example_installed_as_the_guide_says(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    commands = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = [str(commands / "python"), "-m", "pip", "install", "--quiet", f"torchlint[flake8] @ {CHECKOUT.as_uri()}"]
    subprocess.run(install, check=True)
    package = tmp_path / "acme-rules"
    shutil.copytree(EXAMPLE, package)
    subprocess.run([commands / "pip", "install", "--quiet", "-e", "."], cwd=package, check=True)
    fixture = package / "fixtures" / "acm001_host_sum"
    project = tmp_path / "project"
    project.mkdir()
    clean = {name: value for name, value in environment().items() if name != "PYTHONPATH"}

    def run(*arguments: str, cwd: Path = project) -> tuple[int, str]:
        command = [str(commands / arguments[0]), *arguments[1:]]
        done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, encoding="utf-8", check=False)
        return done.returncode, done.stdout + done.stderr

    text = (fixture / "bad.py").read_text(encoding="utf-8")
    for name in "ab":
        (project / f"{name}.py").write_text(text + "#" * 60_000 + "\n", encoding="utf-8")
    cell: dict[str, object] = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "c.ipynb").write_text(json.dumps(notebook), encoding="utf-8")

    code, out = run("torchlint", "--select", "ACM", "-j", "2", "--output-format", "concise", ".")
    assert code == 1
    assert [line.partition(" ")[0] for line in out.splitlines()[:9]] == [
        *(f"{name}.py:{place}:" for name in "ab" for place in ("6:11", "7:11", "8:12")),
        *(f"c.ipynb:cell 1:{place}:".partition(" ")[0] for place in ("6:11", "7:11", "8:12")),
    ]
    code, out = run("flake8", "--isolated", "--select", "ACM", "a.py")
    assert [line.partition(" ")[2][:6] for line in out.splitlines()] == ["ACM001"] * 3
    assert run("torchlint", "--select", "ACM", "--fix", "--unsafe-fixes", "-j", "2", ".")[0] == 1  # one has no fix
    fixed = (fixture / "fixed.py").read_text(encoding="utf-8")
    for name in "ab":
        assert (project / f"{name}.py").read_text(encoding="utf-8") == fixed + "#" * 60_000 + "\n"
    assert json.loads((project / "c.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"] == fixed
    code, out = run("torchlint", "test-rule", "ACM001", cwd=package)
    wanted = GUIDE.partition("$ torchlint test-rule ACM001\n")[2].partition("```")[0].splitlines()
    assert (code, out.splitlines()[:-1]) == (0, wanted[:-1])  # the last line is about the hazard, which torch shows
    assert out.splitlines()[-1] == "  its hazard shows, and is gone after its fix: skipped: PyTorch is not installed"


def test_the_example_is_proven(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    site.install(rules=(EXAMPLE / "acme_rules" / "host_sum.py").read_text(encoding="utf-8"))
    code, out, err = run("test-rule", "--plugin", "acme_rules", "--fixtures", str(EXAMPLE / "fixtures"), "ACM001")
    assert (code, err) == (0, "")
    assert f"$ torchlint test-rule ACM001\n{out}```" in GUIDE
