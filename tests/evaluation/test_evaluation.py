"""The evaluation's arithmetic and its label files; the evaluation itself is run by hand (tests/evaluation/README.md)."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

EVALUATION = Path(__file__).parent
sys.path[:0] = [str(EVALUATION), str(EVALUATION / "first_contact")]

from accuracy_page import Evaluation, Extent, page, summary  # noqa: E402
from code_bases import GROUPS, Checkout, DownloadError, Manifest, Package, Repository, Store, unpack  # noqa: E402
from judgement import Finding, judge  # noqa: E402
from labels import CodeBase, Label, LabelError, Occurrence, Place, read_labels, read_occurrences  # noqa: E402
from tables import percentage  # noqa: E402

NET = CodeBase("net", "1.0")


def finding(row: int, code: str = "TPL002", column: int = 1, file: str = "a.py") -> Finding:
    return Finding(NET, file, row, column, code)


def label(place: str, verdict: str, codes: str = "TPL002", file: str = "a.py") -> Label:
    return Label(NET, file, Place.parse(place), frozenset(codes.split("|")), verdict, "because")


def occurrence(place: str, codes: str = "TPL002", decidable: bool = True, file: str = "a.py") -> Occurrence:
    return Occurrence(NET, file, Place.parse(place), tuple(codes.split("|")), decidable)


# --- places ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "row", "column", "covered"),
    [
        ("12", 12, 5, True),
        ("12", 13, 5, False),
        ("12-14", 14, 1, True),
        ("12-14", 11, 1, False),
        ("12-14", 15, 1, False),
        ("12:5", 12, 5, True),
        ("12:5", 12, 6, False),
        ("12:5", 13, 5, False),
    ],
)
def test_place_covers(text: str, row: int, column: int, covered: bool) -> None:
    assert Place.parse(text).covers(row, column) is covered
    assert str(Place.parse(text)) == text


@pytest.mark.parametrize("text", ["", "0", "12-", "14-12", "12:0", "-3", "12-14:5", "x"])
def test_place_must_make_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"place|ends before"):
        Place.parse(text)


# --- judging findings ------------------------------------------------------------------------------------------------


def test_findings_are_true_false_or_unlabelled() -> None:
    judgement = judge([finding(1), finding(2), finding(3), finding(4)], [label("1-2", "true"), label("3", "false")], [])
    tally = judgement.rules["TPL002"]
    assert (tally.findings, tally.true, tally.false, tally.unlabelled) == (4, 2, 1, 1)
    assert tally.precision == pytest.approx(2 / 3)
    assert judgement.false == [(finding(3), "because")]
    assert judgement.unlabelled == [finding(4)]


def test_narrowest_label_decides() -> None:
    judgement = judge(
        [finding(2, column=9), finding(2, column=3), finding(1)], [label("1-3", "true"), label("2:9", "false")], []
    )
    assert [place for place, _ in judgement.false] == [finding(2, column=9)]
    assert judgement.rules["TPL002"].true == 2


def test_doubt_counts_against_torchlint() -> None:
    assert judge([finding(1)], [label("1", "true"), label("1", "false")], []).rules["TPL002"].false == 1


def test_findings_are_useful_or_noise_where_a_label_says_so() -> None:
    labels = [label("1-3", "useful"), label("4", "noise"), label("5", "false"), label("6", "true")]
    tally = judge([finding(row) for row in range(1, 7)], labels, []).rules["TPL002"]
    assert (tally.true, tally.useful, tally.noise, tally.false) == (5, 3, 1, 1)
    assert tally.useful_share == 3 / 4  # of the one that is only true, nobody has asked


def test_share_of_the_useful_is_unknown_where_nobody_has_asked() -> None:
    assert judge([finding(1), finding(2)], [label("1", "true"), label("2", "false")], []).total.useful_share is None


def test_of_two_labels_the_worse_one_decides() -> None:
    tally = judge([finding(1)], [label("1", "useful"), label("1", "noise")], []).rules["TPL002"]
    assert (tally.useful, tally.noise) == (0, 1)


def test_label_for_another_rule_file_or_code_base_says_nothing() -> None:
    other = Label(CodeBase("net", "2.0"), "a.py", Place.parse("1"), frozenset({"TPL002"}), "true", "because")
    labels = [label("1", "true", "TPL001"), label("1", "true", file="b.py"), other]
    assert judge([finding(1)], labels, []).rules["TPL002"].unlabelled == 1


def test_label_may_be_for_several_rules() -> None:
    judgement = judge([finding(1, "TPL001"), finding(1, "TPL002")], [label("1", "true", "TPL001|TPL002")], [])
    assert judgement.rules["TPL001"].true == judgement.rules["TPL002"].true == 1


# --- judging occurrences ---------------------------------------------------------------------------------------------


def test_occurrences_are_found_or_missed() -> None:
    judgement = judge([finding(2), finding(9)], [], [occurrence("1-3"), occurrence("5")])
    tally = judgement.rules["TPL002"]
    assert (tally.occurrences, tally.found, tally.missed) == (2, 1, 1)
    assert tally.recall == 0.5
    assert judgement.missed == [occurrence("5")]


def test_equal_occurrences_need_as_many_findings() -> None:
    three = [occurrence("1-2")] * 3
    assert judge([finding(1, column=1), finding(2, column=9)], [], three).rules["TPL002"].found == 2
    assert judge([finding(1, column=column) for column in range(1, 6)], [], three).rules["TPL002"].found == 3


def test_another_rule_does_not_find_an_occurrence_unless_it_may() -> None:
    judgement = judge([finding(1, "TPL002")], [], [occurrence("1", "TPL001"), occurrence("1", "TPL003|TPL002")])
    assert judgement.rules["TPL001"].missed == 1
    assert judgement.rules["TPL003"].found == 1


def test_undecidable_occurrences_are_counted_apart() -> None:
    known = [occurrence("1"), occurrence("2"), occurrence("3", decidable=False), occurrence("4", decidable=False)]
    judgement = judge([finding(1), finding(3)], [], known)
    tally = judgement.rules["TPL002"]
    assert (tally.occurrences, tally.undecidable) == (2, 2)
    assert (tally.recall, tally.recall_of_all) == (0.5, 0.5)
    assert judgement.missed == [occurrence("2")]


def test_occurrences_in_files_that_cannot_be_parsed_are_counted_apart() -> None:
    judgement = judge([], [], [occurrence("1"), occurrence("1", file="b.py")], frozenset({(NET, "b.py")}))
    assert (judgement.rules["TPL002"].missed, judgement.rules["TPL002"].unreadable) == (1, 1)


def test_total_adds_up() -> None:
    judgement = judge([finding(1, "TPL001"), finding(2)], [label("1-2", "true", "TPL001|TPL002")], [occurrence("1", "TPL001")])
    assert (judgement.total.true, judgement.total.found, judgement.total.precision) == (2, 1, 1.0)


def test_nothing_has_no_share() -> None:
    total = judge([], [], []).total
    assert (total.precision, total.recall, total.recall_of_all) == (None, None, None)


# --- showing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fraction", "shown"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.5, "50.0 %"), (0.0, "0.0 %"), (None, "–")]
)
def test_percentage_is_never_flattering(fraction: float | None, shown: str) -> None:
    assert percentage(fraction) == shown


def test_page_and_summary_show_figures_and_places() -> None:
    judgement = judge(
        [finding(1), finding(2), finding(7)],
        [label("1", "true"), label("2", "false")],
        [occurrence("1"), occurrence("5-6"), occurrence("8", decidable=False)],
    )
    extents = [Extent(NET, "held-out", 20, 12_345, 1)]
    evaluation = Evaluation({"held-out": judgement}, extents, ["net 1.0 b.py:1:1: error: no"])
    assert "| TPL002 | 3 | 1 | 1 | 50.0 % | 2 | 1 | 50.0 % (33.3 %) | 0 |" in page(evaluation)
    assert "| **Everything** | 1 | 20 | 12,345 | 3 | 1 | 50.0 % | 2 | 1 | 50.0 % |" in page(evaluation)
    for shown in (page(evaluation), summary(evaluation)):
        assert "1 code bases, 20 files, 12,345 lines" in shown
        assert "net 1.0 a.py:2:1 TPL002" in shown
        assert "net 1.0 a.py:7:1 TPL002" in shown
        assert "a.py:5-6 TPL002" in shown
        assert "a.py:8" not in shown
        assert "net 1.0 b.py:1:1: error: no" in shown


# --- fetching --------------------------------------------------------------------------------------------------------


def test_archive_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "net-1.0.tar.gz").write_bytes(b"something else")
    store = Store(tmp_path, [], "")
    with pytest.raises(DownloadError, match="SHA-256"):
        store.package(Package("net", "1.0", "developed", "net-1.0.tar.gz", "0" * 64))


def test_sdist_is_unpacked_without_its_folder(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "net-1.0.tar.gz", "w:gz") as archive:
        for name in ("net-1.0/setup.py", "net-1.0/net/model.py", "net-1.0/net/weights.bin"):
            member = tarfile.TarInfo(name)
            member.size = 4
            archive.addfile(member, BytesIO(b"x=1\n"))
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "net-1.0.tar.gz", tmp_path / "out")
    assert Checkout(NET, "developed", tmp_path / "out").files == ["net/model.py", "setup.py"]


def test_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "net-1.0.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("net-1.0/../../evil.py"))
    (tmp_path / "out").mkdir()
    with pytest.raises(DownloadError, match="outside"):
        unpack(tmp_path / "net-1.0.tar.gz", tmp_path / "out")
    assert not (tmp_path / "evil.py").exists()


def test_wheel_is_unpacked_as_it_is(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "net-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("net/__init__.py", "")
        archive.writestr("net-1.0.dist-info/METADATA", "")
    unpack(tmp_path / "net-1.0-py3-none-any.whl", tmp_path / "out")
    assert Checkout(NET, "developed", tmp_path / "out").files == ["net/__init__.py"]


# --- the files -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return Manifest.read(EVALUATION / "manifest.json")


@pytest.fixture(scope="module")
def labels() -> list[Label]:
    return read_labels(EVALUATION / "labels.tsv")


@pytest.fixture(scope="module")
def occurrences() -> list[Occurrence]:
    return read_occurrences(EVALUATION / "occurrences.tsv")


def pinned_code_bases(manifest: Manifest) -> list[CodeBase]:
    entries: tuple[Package | Repository, ...] = (*manifest.packages, *manifest.repositories)
    return [entry.code_base for entry in entries]


def test_everything_is_pinned(manifest: Manifest) -> None:
    for package in manifest.packages:
        assert package.group in GROUPS
        assert len(bytes.fromhex(package.sha256)) == 32
        assert f"-{package.version}" in package.file
    for repository in manifest.repositories:
        assert len(bytes.fromhex(repository.commit)) == 20
        assert repository.unjudged
    named = pinned_code_bases(manifest)
    assert len(named) == len(set(named))


def test_labels_are_about_what_is_pinned(manifest: Manifest, labels: list[Label], occurrences: list[Occurrence]) -> None:
    pinned = set(pinned_code_bases(manifest))
    assert {each.code_base for each in labels} <= pinned
    assert {each.code_base for each in occurrences} <= pinned


def test_labels_do_not_contradict_each_other(labels: list[Label]) -> None:
    verdicts: dict[tuple[CodeBase, str, Place, str], str] = {}
    for each in labels:
        for code in each.codes:
            assert verdicts.setdefault((each.code_base, each.file, each.place, code), each.verdict) == each.verdict, each


def test_every_occurrence_is_labelled_true(labels: list[Label], occurrences: list[Occurrence]) -> None:
    true = {(each.code_base, each.file, each.place, code) for each in labels if each.true for code in each.codes}
    for each in occurrences:
        assert all((each.code_base, each.file, each.place, code) in true for code in each.codes), each


def test_reasons_are_short_and_no_code(labels: list[Label]) -> None:
    for each in labels:
        assert len(each.why) <= 160, each
        assert not any(sign in each.why for sign in (" = ", "+=", "==", ".backward(", "import ")), each


def test_label_says_useful_noise_false_or_just_true(tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    rows = [
        f"net\t1.0\ta.py\t{row}\tTPL002\t{verdict}\tx\n" for row, verdict in enumerate(("useful", "noise", "false", "true"), 1)
    ]
    file.write_text("package\tversion\tfile\tplace\tcode\tverdict\twhy\n" + "".join(rows), encoding="utf-8")
    assert [(each.verdict, each.true) for each in read_labels(file)] == [
        ("useful", True),
        ("noise", True),
        ("false", False),
        ("true", True),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("net\t1.0\ta.py\t1\tTPL002\tmaybe\tx", "verdict"),
        ("net\t1.0\ta.py\t1\tTPL002\tunjudged\tx", "verdict"),
        ("net\t1.0\ta.py\t1\tTPL002\ttrue\t ", "says why"),
        ("net\t1.0\ta.py\tone\tTPL002\ttrue\tx", "not a place"),
        ("net\t1.0\ta.py\t1\tE501\ttrue\tx", "not a code"),
        ("net\t1.0\ta.py\t1\tTPL002\ttrue", "6 columns where there are 7"),
    ],
)
def test_broken_label_is_named(tmp_path: Path, row: str, message: str) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text(f"package\tversion\tfile\tplace\tcode\tverdict\twhy\n{row}\n", encoding="utf-8")
    with pytest.raises(LabelError, match=rf"labels\.tsv:2: .*{message}"):
        read_labels(file)
