"""The articles' claims: each holds, or does not, as docs/claims.md says."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from torchlint.rules import all_rules

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))

from audit import DOCS, PAGE, all_claims, page, read_evidence  # noqa: E402
from claim import DEVICES, NAMES, Claim  # noqa: E402

CLAIMS = all_claims()
ARTICLES = DOCS / "articles.md"


def claims_on(device: str) -> list[Claim]:
    return [claim for claim in CLAIMS if device in claim.devices]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("claim", claims_on("cpu"), ids=lambda claim: claim.name)
def test_a_claim_comes_out_as_published_on_the_cpu(claim: Claim) -> None:
    assert claim.experiment("cpu") is claim.holds


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("claim", claims_on("cuda"), ids=lambda claim: claim.name)
def test_a_claim_comes_out_as_published_on_cuda(claim: Claim) -> None:
    assert claim.experiment("cuda") is claim.holds


def test_the_page_is_current() -> None:
    expected = page({device: read_evidence(device) for device in DEVICES})
    assert PAGE.read_text(encoding="utf-8") == expected, "run `python tests/claims/audit.py`"


@pytest.mark.parametrize("device", DEVICES)
def test_the_record_is_of_these_claims(device: str) -> None:
    evidence = read_evidence(device)
    if evidence is None:
        assert device != "cpu"
    else:
        assert evidence["holds"] == {claim.name: claim.holds for claim in claims_on(device)}
        assert {"torch", "python", "device", "date"} <= evidence.keys()


def test_false_claims_say_what_is_so() -> None:
    assert [claim.name for claim in CLAIMS if not claim.holds and not claim.note] == []


def test_each_article_has_true_claims_and_false_ones() -> None:
    assert {(claim.article, claim.holds) for claim in CLAIMS} == {(name, holds) for name in NAMES for holds in (True, False)}


def test_an_experiment_can_fail() -> None:
    """No experiment returns a constant: each one's last line computes something."""
    constants = [claim.name for claim in CLAIMS if re.fullmatch(r"\s*return (True|False)", claim.body.splitlines()[-1])]
    assert set(constants) <= {"000.equal_ids_mean_the_same_memory"}  # returns False from its loop


def test_claims_name_rules_that_exist() -> None:
    codes = {rule.code for rule in all_rules()}
    assert {code for claim in CLAIMS for code in claim.rules} <= codes


def test_the_articles_table_names_rules_and_claims_that_exist() -> None:
    text = ARTICLES.read_text(encoding="utf-8")
    codes = set(re.findall(r"rules/(TPL\d+)\.md", text))
    assert codes <= {rule.code for rule in all_rules()}
    assert set(re.findall(r"claims\.md#([\w.]+)", text)) <= {claim.name for claim in CLAIMS}


def test_every_rule_that_an_article_led_to_is_in_the_table() -> None:
    named = set(re.findall(r"\[(TPL\d+)\]", ARTICLES.read_text(encoding="utf-8")))
    ranges = ((108, 111), (309, 332), (405, 406), (505, 507), (601, 608), (701, 704))
    second_catalogue = {f"TPL{code}" for first, last in ranges for code in range(first, last + 1)}
    about_comments = {"TPL900"}
    assert {rule.code for rule in all_rules()} - named <= second_catalogue | about_comments


def test_every_row_of_the_articles_table_leads_somewhere() -> None:
    rows = [line for line in ARTICLES.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| the article", "| ---"))]
    assert len(rows) > 60
    assert [row for row in rows if "](" not in row] == []


def test_evidence_is_json_without_places_of_a_machine() -> None:
    for path in (DOCS / "evidence" / "claims").glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert json.loads(text)
        assert '"/' not in text
