"""The configuration as a user meets it: which file counts, what each key does, and what a mistake is told."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest

from command import torchlint_
from torchlint.config.files import Resolver, read_settings
from torchlint.config.keys import KEYS, schema
from torchlint.config.settings import Settings, shown
from torchlint.target import TorchVersion

SCHEMA = Path(__file__).parents[2] / "docs" / "torchlint.schema.json"

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
"""A finding of TPL005, with a safe fix."""
READ = "import torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n"
"""A finding of TPL002, with a safe fix."""
KEPT = """\
import torch
from torch import nn


def train(model, loader, optimizer):
    criterion = nn.MSELoss()
    losses = []
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print([float(loss) for loss in losses])
"""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(**texts: str) -> None:
    for name, text in texts.items():
        write(f"{name}.py", text)


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def own(text: str) -> None:
    write("torchlint.toml", text)


def findings(*arguments: str, given: str | None = None) -> list[str]:
    """What the command finds, as ``file code``."""
    result = torchlint_("--output-format", "json", *arguments, given=given)
    assert result.stderr in ("", "warning: no Python files found under the given paths\n")
    place = str(Path.cwd()) + os.sep
    return [f"{found['filename'].removeprefix(place)} {found['code']}" for found in json.loads(result.stdout)]


# --- which file ------------------------------------------------------------------------------------------------------


def test_pyproject_is_read() -> None:
    make(a=TYPO, b=READ)
    write("pyproject.toml", '[project]\nname = "x"\n[tool.torchlint]\nignore = ["TPL002"]\n')
    assert findings() == ["a.py TPL005"]


def test_a_pyproject_without_the_table_is_passed_over() -> None:
    write("pyproject.toml", '[tool.torchlint]\nignore = ["TPL002"]\n')
    write("inner/pyproject.toml", "[tool.ruff]\nline-length = 100\n")
    write("inner/a.py", READ)
    assert findings() == []


def test_torchlint_toml_goes_before_pyproject() -> None:
    make(a=TYPO)
    write("pyproject.toml", '[tool.torchlint]\nselect = ["TPL002"]\n')
    own('select = ["TPL005"]\n')
    assert findings() == ["a.py TPL005"]


def test_each_file_has_the_nearest_configuration_up_its_tree() -> None:
    own('select = ["TPL005"]\n')
    write("a.py", TYPO + READ)
    write("one/a.py", TYPO + READ)
    write("one/deep/a.py", TYPO + READ)
    write("one/torchlint.toml", 'select = ["TPL002"]\n')
    assert findings() == ["a.py TPL005", "one/a.py TPL002", "one/deep/a.py TPL002"]
    assert findings("one/deep") == ["one/deep/a.py TPL002"]


def test_the_configuration_above_the_working_directory_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    own('select = ["TPL002"]\n')
    write("src/a.py", TYPO)
    monkeypatch.chdir("src")
    assert findings() == []


def test_standard_input_has_the_configuration_of_its_file_name() -> None:
    write("one/torchlint.toml", 'select = ["TPL002"]\n')
    assert findings("-", given=TYPO) == ["<stdin> TPL005"]
    assert findings("--stdin-filename", "one/a.py", "-", given=TYPO) == []


def test_config_names_a_file_for_all() -> None:
    own('select = ["TPL005"]\n')
    write("elsewhere/settings.toml", 'select = ["TPL002"]\n')
    make(a=TYPO, b=READ)
    assert findings("--config", "elsewhere/settings.toml") == ["b.py TPL002"]


def test_isolated_reads_none() -> None:
    own("this is no TOML")
    make(a=TYPO)
    assert findings("--isolated") == ["a.py TPL005"]


# --- what each key does ----------------------------------------------------------------------------------------------


def test_the_command_line_goes_before_the_file() -> None:
    own('select = ["TPL005"]\nignore = ["TPL002"]\n')
    make(a=TYPO, b=READ)
    assert findings("--select", "TPL002") == ["b.py TPL002"]
    assert findings("--extend-select", "TPL002") == ["a.py TPL005", "b.py TPL002"]
    assert findings("--ignore", "TPL005") == []


def test_extend_select() -> None:
    own('select = ["TPL005"]\nextend-select = ["TPL002"]\n')
    make(a=TYPO, b=READ)
    assert findings() == ["a.py TPL005", "b.py TPL002"]


def test_per_file_ignores() -> None:
    own('[per-file-ignores]\n"tests/*" = ["TPL005"]\n"!src/*.py" = ["TPL002"]\n"old.py" = ["ALL"]\n')
    for name in ("src/a.py", "tests/a.py", "old.py", "src/old.py"):
        write(name, TYPO + READ)
    assert findings() == ["src/a.py TPL005", "src/a.py TPL002"]
    assert findings("--stdin-filename", "tests/b.py", "-", given=TYPO) == []


def test_unfixable_and_fixable() -> None:
    own('unfixable = ["TPL002"]\n')
    make(a=TYPO + READ)
    result = torchlint_("--fix", "a.py")
    assert "requires_grad" in Path("a.py").read_text() and "x.data" in Path("a.py").read_text()
    assert "TPL002 `" in result.stdout and "[*]" not in result.stdout
    make(a=TYPO + READ)
    torchlint_("--fix", "--fixable", "TPL002", "--unfixable", "TPL1", "a.py")
    assert "requres_grad" in Path("a.py").read_text() and "x.data" not in Path("a.py").read_text()


def test_exclude_and_extend_exclude() -> None:
    for name in ("a.py", "old/a.py", "src/gen/a.py", "build/a.py", "src/x_pb2.py"):
        write(name, TYPO)
    own('extend-exclude = ["old", "src/gen", "*_pb2.py"]\n')
    assert findings() == ["a.py TPL005"]
    own('exclude = ["old"]\n')
    assert findings() == ["a.py TPL005", "build/a.py TPL005", "src/gen/a.py TPL005", "src/x_pb2.py TPL005"]
    assert findings("--exclude", "src,build", "--extend-exclude", "a.py") == []


def test_what_is_excluded_is_linted_if_given_unless_forced() -> None:
    own('extend-exclude = ["old"]\n')
    write("old/a.py", TYPO)
    assert findings("old/a.py") == ["old/a.py TPL005"]
    assert findings("--force-exclude", "old/a.py") == []
    assert findings("--force-exclude", "--stdin-filename", "old/a.py", "-", given=TYPO) == []


def test_patterns_are_relative_to_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    own('extend-exclude = ["src/gen"]\n')
    write("src/gen/a.py", TYPO)
    write("src/b.py", TYPO)
    monkeypatch.chdir("src")
    assert findings() == ["b.py TPL005"]


def test_include() -> None:
    own('include = ["*.py", "scripts/*"]\n')
    write("scripts/train", TYPO)
    write("a.py", TYPO)
    write("b.pyi", TYPO)
    assert findings() == ["a.py TPL005", "scripts/train TPL005"]


def test_gitignore_is_respected() -> None:
    for name in ("a.py", "out/a.py", "src/gen.py", "src/kept/gen.py", "data/x.py"):
        write(name, TYPO)
    Path(".git/info").mkdir(parents=True)
    write(".git/info/exclude", "data/\n")
    write(".gitignore", "# made\n/out/\ngen.py\n")
    write("src/kept/.gitignore", "!gen.py\n")
    assert findings() == ["a.py TPL005", "src/kept/gen.py TPL005"]
    assert findings("src") == ["src/kept/gen.py TPL005"]
    assert findings("out/a.py") == ["out/a.py TPL005"]
    everything = ["a.py", "data/x.py", "out/a.py", "src/gen.py", "src/kept/gen.py"]
    assert findings("--no-respect-gitignore") == [f"{name} TPL005" for name in everything]
    own("respect-gitignore = false\n")
    assert findings() == [f"{name} TPL005" for name in everything]


def test_target_torch() -> None:
    make(a=READ)  # `.detach()` came with 0.4
    own('target-torch = "0.3"\n')
    assert findings() == []
    assert findings("--target-torch", "1.13") == ["a.py TPL002"]


def test_accumulate_with() -> None:
    make(a=KEPT)
    own('accumulate-with = "detach"\n')
    torchlint_("--fix")
    assert "losses.append(loss.detach())" in Path("a.py").read_text()
    make(a=KEPT)
    torchlint_("--fix", "--isolated")
    assert "losses.append(loss.item())" in Path("a.py").read_text()


def test_output_format() -> None:
    make(a=TYPO)
    own('output-format = "concise"\n')
    assert torchlint_().stdout.startswith("a.py:3:1: TPL005")
    assert torchlint_("--output-format", "json").stdout.startswith("[")


def test_cache_dir_starts_from_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    write("src/a.py", TYPO)
    own('cache-dir = "kept/cache"\n')
    monkeypatch.chdir("src")
    torchlint_()
    assert (Path("..") / "kept" / "cache" / "CACHEDIR.TAG").exists()


def test_the_project_root_starts_from_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    model = "from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n"
    user = "from models import Net\n\nmodel = Net()\nmodel.requires_grad = False\n"
    write("models.py", model)
    write("src/a.py", "import torch\n" + user)
    write("src/deep/b.py", "import torch\n" + user)
    monkeypatch.chdir("src")

    def found(*arguments: str) -> list[str]:
        return findings("--select", "TPL006", *arguments)

    write("../torchlint.toml", 'project-root = "."\n')
    assert torchlint_("--show-settings").stdout.count(f'project-root = "{Path("..").resolve()}"\n') == 1
    assert found() == ["a.py TPL006", "deep/b.py TPL006"]
    write("../torchlint.toml", "project-root = false\n")
    assert "\nproject-root = false\n" in torchlint_("--show-settings").stdout
    assert found() == []
    assert found("--project-root", "..") == ["a.py TPL006", "deep/b.py TPL006"]
    assert found("--config", 'project-root = "deep"') == []
    write("../torchlint.toml", 'project-root = "src/deep"\n')
    assert found() == []
    assert found("--config", "project-root = false") == []


@pytest.mark.parametrize("given", ["..", "/", "link", "a/../.."])
def test_a_configuration_names_no_project_around_it(given: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    make(a=TYPO)
    Path("link").symlink_to(tmp_path_factory.mktemp("outside"))
    own(f'project-root = "{given}"\n')
    finished = torchlint_()
    message = f'`project-root`: expected the folder of this file, or one below it, found "{given}": it leads elsewhere'
    assert (finished.stdout, finished.returncode) == ("", 2)
    assert message in finished.stderr


def test_the_cache_knows_the_settings() -> None:
    make(a=TYPO)
    assert findings() == ["a.py TPL005"]
    own('[per-file-ignores]\n"a.py" = ["TPL005"]\n')
    assert findings() == []
    own('unfixable = ["TPL005"]\n')
    assert "[*]" not in torchlint_("--output-format", "concise").stdout


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_show_files() -> None:
    for name in ("a.py", "b.txt", "old/c.py"):
        write(name, TYPO)
    own('extend-exclude = ["old"]\n')
    result = torchlint_("--show-files")
    assert (result.stdout, result.stderr, result.returncode) == ("a.py\n", "", 0)


def test_show_settings() -> None:
    own('select = ["TPL005"]\ntarget-torch = "1.13"\n[per-file-ignores]\n"tests/*" = ["TPL002"]\n')
    lines = torchlint_("--show-settings").stdout.splitlines()
    assert lines[0] == "# from torchlint.toml"
    assert lines[1].startswith('rules = ["TPL005"]')
    assert 'target-torch = "1.13"' in lines
    assert 'per-file-ignores = {"tests/*" = ["TPL002"]}' in lines
    assert torchlint_("--show-settings", "--isolated").stdout.startswith("# no configuration file\n")


def test_what_is_shown_is_toml() -> None:
    write("shown/torchlint.toml", "\n".join(shown(Settings("/")).splitlines()[2:]))
    settings = read_settings("shown/torchlint.toml")
    assert settings is not None
    assert settings.exclude == Settings("/").exclude


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('slect = ["TPL001"]', "`slect`: no such key; did you mean `select`?"),
        ("zzz = 1", "`zzz`: no such key"),
        ('cache-dir = ""', '`cache-dir`: expected the name of a folder, found ""'),
        ('select = ["TPL1O1"]', "`select`: unknown rule code `TPL1O1`; did you mean `TPL101`?"),
        ('select = "TPL001"', '`select`: expected a list of strings, found "TPL001"'),
        ("exclude = [1]", "`exclude`: expected a list of strings, found [1]"),
        ('exclude = [""]', "`exclude`: a pattern is empty"),
        ('respect-gitignore = "no"', '`respect-gitignore`: expected true or false, found "no"'),
        ("target-torch = 1.13", '`target-torch`: expected a string such as "1.13", found 1.13'),
        ('target-torch = "new"', "`target-torch`: not a version of torch: 'new' (expected one such as 1.13 or 2.0)"),
        ('accumulate-with = "items"', '`accumulate-with`: "items" is none of item, detach; did you mean `item`?'),
        ("project-root = true", "`project-root`: expected a folder, or false, found true"),
        ('project-root = ""', '`project-root`: expected a folder, or false, found ""'),
        ("cache-dir = true", "`cache-dir`: expected the name of a folder, found true"),
        ("per-file-ignores = 1", "`per-file-ignores`: expected a table of patterns with codes, found 1"),
        ('per-file-ignores = {"a.py" = ["X"]}', "`per-file-ignores`: of `a.py`: unknown rule code `X`"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_key(text: str, message: str) -> None:
    make(a=TYPO)
    own(text + "\n")
    result = torchlint_()
    assert (result.stdout, result.returncode) == ("", 2)
    assert result.stderr.startswith(f"torchlint.toml: error: {message}")
    assert result.stderr.count("\n") == 1


def test_a_mistake_in_pyproject_names_the_table() -> None:
    write("src/pyproject.toml", "[tool.torchlint]\nslect = []\n")
    write("src/a.py", TYPO)
    result = torchlint_()
    assert result.stderr == "src/pyproject.toml: error: `tool.torchlint.slect`: no such key; did you mean `select`?\n"
    write("src/pyproject.toml", "[tool]\ntorchlint = 3\n")
    assert torchlint_().stderr == "src/pyproject.toml: error: `tool.torchlint`: expected a table, found 3\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"select = [", r"torchlint\.toml(:1:\d+)?: error: not TOML: .+\n"),
        (b"x = '\xff'", r"torchlint\.toml: error: not TOML: not utf-8 text\n"),
    ],
)
def test_what_is_no_toml_is_one_line(data: bytes, message: str) -> None:
    Path("torchlint.toml").write_bytes(data)
    result = torchlint_()
    assert result.returncode == 2
    assert re.fullmatch(message, result.stderr)


def test_a_configuration_that_is_not_there() -> None:
    result = torchlint_("--config", "nope.toml")
    assert (result.stderr, result.returncode) == (
        "nope.toml: error: cannot read the configuration: No such file or directory\n",
        2,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--target-torch", "x"), "not a version of torch: 'x'"),
        (("--fixable", "TPLX"), "unknown rule code `TPLX`"),
        (("--select", "TPLX"), "unknown rule code `TPLX`"),
    ],
)
def test_mistakes_on_the_command_line(arguments: tuple[str, ...], message: str) -> None:
    result = torchlint_(*arguments)
    assert result.returncode == 2
    assert message in result.stderr


# --- the schema ------------------------------------------------------------------------------------------------------


def test_the_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema(), "run `python -m torchlint.cli.rule_pages`"


def test_the_schema_takes_what_is_right_and_refuses_what_is_wrong() -> None:
    validator = jsonschema.Draft7Validator(schema())
    right = {
        "select": ["TPL0", "TPL101", "ALL"],
        "per-file-ignores": {"tests/*": ["TPL002"]},
        "respect-gitignore": True,
        "target-torch": "2.0.1",
        "accumulate-with": "detach",
        "output-format": "json",
    }
    assert list(validator.iter_errors(right)) == []
    mistakes: list[dict[str, object]] = [
        {"slect": []},
        {"select": ["X1"]},
        {"target-torch": "two"},
        {"accumulate-with": "x"},
        {"include": [""]},
    ]
    for wrong in mistakes:
        assert list(validator.iter_errors(wrong)) != []


def test_every_setting_has_a_key_and_every_key_a_setting() -> None:
    defaults = Settings("/")
    assert all(hasattr(defaults, key.field) or key.name in ("select", "ignore", "extend-select") for key in KEYS)


# --- the library's side ----------------------------------------------------------------------------------------------


def test_settings_are_read_from_a_file() -> None:
    own('target-torch = "1.13.1"\n')
    settings = read_settings("torchlint.toml")
    assert settings is not None
    assert settings.target_torch == TorchVersion(1, 13)
    assert settings.options.target == TorchVersion(1, 13)


def test_a_resolver_reads_each_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own("")
    resolver = Resolver()
    deep = Path.cwd() / "a" / "b"
    deep.mkdir(parents=True)
    first = resolver.of_directory(str(deep))
    own('select = ["TPLX"]')
    assert resolver.of_directory(str(deep.parent)) is first
    assert resolver.of_directory(str(Path.cwd())) is first


def test_a_file_of_torchlints_own_that_has_the_header_of_a_pyproject() -> None:
    Path("torchlint.toml").write_text('[tool.torchlint]\nselect = ["TPL0"]\n')
    assert (torchlint_().returncode, torchlint_().stderr) == (
        2,
        "torchlint.toml: error: `tool`: no such key; a file of torchlint's own has its keys without `[tool.torchlint]`\n",
    )
