"""The documentation site as it is built: its links, and what a browser makes of it.

``TORCHLINT_SITE`` names a folder that the site was built to; without it, it is built here. Needs the extra `docs`, and for the
browser Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

from torchlint.rules import own_rules

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TORCH = "https://docs.pytorch.org/docs/stable/"

pytestmark = pytest.mark.skipif(find_spec("sphinx") is None, reason="no Sphinx is installed (the extra docs)")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the site."""
    if "TORCHLINT_SITE" in os.environ:
        return Path(os.environ["TORCHLINT_SITE"]).resolve()
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(folder)], check=False
    )
    assert run.returncode == 0
    return folder


class Page(HTMLParser):
    """The names of what is on a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.names.add(given.get("id") or "")
        if tag == "a" and given.get("href") is not None:
            self.links.append(given["href"] or "")
        if tag == "img":
            self.images.append(given)


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {
        path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }


# --- what is there ---------------------------------------------------------------------------------------------------


def test_every_internal_link_and_anchor_resolves(pages: dict[Path, Page]) -> None:
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, anchor = urldefrag(unquote(link))
            other = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not other.is_file() or (anchor and other in pages and anchor not in pages[other].names):
                wrong.append(f"{path.name}: {link}")
    assert wrong == []
    assert sum(len(page.links) for page in pages.values()) > 5_000


def test_every_page_of_the_documentation_is_in_the_navigation(site: Path, pages: dict[Path, Page]) -> None:
    reached = {(site / urldefrag(link)[0]).resolve() for link in pages[site / "index.html"].links if "://" not in link}
    reached |= {(site / urldefrag(link)[0]).resolve() for link in pages[site / "rules.html"].links if "://" not in link}
    assert [
        path.name for path in pages if path.resolve() not in reached and path.stem not in ("genindex", "search", "py-modindex")
    ] == []


def test_names_of_torch_lead_to_its_own_pages(site: Path, pages: dict[Path, Page]) -> None:
    links = {link for page in pages.values() for link in page.links if link.startswith(TORCH)}
    assert f"{TORCH}generated/torch.no_grad.html#torch.no_grad" in links
    assert f"{TORCH}generated/torch.nn.Module.html#torch.nn.Module" in links
    assert f"{TORCH}generated/torch.nn.functional.dropout.html#torch.nn.functional.dropout" in links
    assert f"{TORCH}data.html#torch.utils.data.DataLoader" in links
    assert len(links) > 150


def test_every_picture_has_words(pages: dict[Path, Page]) -> None:
    assert [(path.name, image) for path, page in pages.items() for image in page.images if not image.get("alt")] == []


@pytest.mark.parametrize("rule", own_rules(), ids=lambda rule: rule.code)
def test_rule_has_a_page_with_all_that_is_known_of_it(rule: Any, site: Path) -> None:
    text = (site / "rules" / f"{rule.code}.html").read_text(encoding="utf-8")
    for heading in ("Example", "Use instead", "Fix safety", "On real code", "Related rules"):
        assert f"<h2>{heading}<" in text


def test_reference_has_all_keys_and_options(site: Path) -> None:
    configuration = (site / "reference" / "configuration.html").read_text(encoding="utf-8")
    assert all(key in configuration for key in ("required-version", "accumulate-with", "per-file-ignores"))
    options = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert all(option in options for option in ("--unsafe-fixes", "--write-baseline", "--device", "--stdio"))
    api = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert all(f'id="torchlint.{name}"' in api for name in ("lint", "fix", "Diagnostic", "SourceError"))


# --- in a browser ----------------------------------------------------------------------------------------------------

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None, reason="no Chromium, or no playwright, is installed"
)
PHONE = {"width": 390, "height": 844}
LOOKED_AT = (
    "index",
    "rules",
    "rules/TPL004",
    "team",
    "writing-rules",
    "reference/api",
    "search",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # type: ignore[import-not-found, unused-ignore]

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A page of the browser, which at the end must not have complained."""
    tab = browser.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    yield tab
    tab.close()
    assert said == []


@needs_chromium
def test_search_finds_a_rule_by_its_code(site: Path, tab: Any) -> None:
    tab.goto((site / "index.html").as_uri())
    tab.locator("input.sidebar-search").fill("TPL004")
    tab.locator("input.sidebar-search").press("Enter")
    first = tab.locator("#search-results ul.search li a").first
    first.wait_for()
    found = tab.locator("#search-results ul.search li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert any(link.startswith("rules/TPL004.html") for link in found)


@needs_chromium
def test_table_filters(site: Path, tab: Any) -> None:
    rules = own_rules()
    tab.goto((site / "rules.html").as_uri())
    rows = tab.locator(".rule-table tbody tr:visible")
    assert rows.count() == len(rules)
    tab.get_by_label("Default").select_option("off")
    off = [rule.code for rule in rules if not rule.default]
    assert rows.locator("th").all_inner_texts() == off
    assert tab.locator(".rule-count").inner_text() == f"{len(off)} of {len(rules)} rules"
    tab.get_by_label("Default").select_option("")
    tab.get_by_label("Family").select_option("legacy")
    assert rows.locator("th").all_inner_texts() == [rule.code for rule in rules if ".legacy." in rule.module]
    tab.get_by_label("Text").fill("volatile")
    assert "TPL103" in rows.locator("th").all_inner_texts()
    tab.get_by_label("Family").select_option("")
    tab.get_by_label("Text").fill("losses.append")  # which is in the documentation, and not in the row
    assert rows.locator("th").all_inner_texts() == ["TPL004"]
    tab.get_by_label("Text").fill("xyzzy")
    assert rows.count() == 0


@needs_chromium
def test_filters_can_be_sent_to_somebody(site: Path, tab: Any) -> None:
    tab.goto((site / "rules.html").as_uri() + "?since=1.12")
    shown = tab.locator(".rule-table tbody tr:visible th").all_inner_texts()
    assert shown == [rule.code for rule in own_rules() if str(rule.since) == "1.12"]


@needs_chromium
def test_both_themes_with_pictures_of_their_own(site: Path, tab: Any) -> None:
    grounds = {}
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        tab.goto((site / "rules" / "TPL004.html").as_uri())
        grounds[theme] = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert tab.locator(f"article img.only-{theme}").is_visible()
        assert not tab.locator("article img.only-" + ("dark" if theme == "light" else "light")).is_visible()
        assert tab.locator(f"article img.only-{theme}").evaluate("image => image.naturalWidth") > 0
    assert grounds["light"] != grounds["dark"]
    tab.locator(".theme-toggle-header, .content-icon-container .theme-toggle").last.click()
    assert tab.evaluate("document.body.dataset.theme") in ("light", "dark")


@needs_chromium
def test_no_page_scrolls_sideways_on_a_phone_or_complains(site: Path, tab: Any) -> None:
    tab.set_viewport_size(PHONE)
    wide = []
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.parts:
            tab.goto(path.as_uri())
            width = tab.evaluate("document.documentElement.scrollWidth")
            if width > PHONE["width"]:
                wide.append(f"{path.relative_to(site)}: {width}")
    assert wide == []


@needs_chromium
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_page_is_accessible(name: str, theme: str, site: Path, tab: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-not-found, unused-ignore]

    tab.emulate_media(color_scheme=theme)
    tab.goto((site / f"{name}.html").as_uri())
    violations = Axe().run(tab, options={"preload": False}).response["violations"]
    serious = [
        (violation["id"], [node["html"][:160] for node in violation["nodes"]][:3])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
