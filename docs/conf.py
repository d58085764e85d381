"""How Sphinx makes the site of these pages: ``python -m sphinx -W --keep-going docs build/site``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from torchlint import __version__

project = "torchlint"
author = "The torchlint authors"
copyright = "2026, the torchlint authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "builder",
]
root_doc = "index"
exclude_patterns = ["README.md", "example-plugin/*/**"]
suppress_warnings = ["myst.header"]  # pages of claims go from the first heading to the third

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

intersphinx_mapping = {"torch": ("https://docs.pytorch.org/docs/stable/", "builder/torch.inv")}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "py:obj"
highlight_language = "text"
copybutton_prompt_text = "$ "

smartquotes = False  # two hyphens are the start of an option

html_theme = "furo"
html_title = "torchlint"
html_static_path = ["builder/static"]
html_css_files = ["site.css"]
html_js_files = [("rules.js", {"defer": "defer"}), ("reach.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # a page could fetch the words of others from a server only
html_theme_options = {
    "source_repository": "https://github.com/torchlint/torchlint/",
    "source_branch": "main",
    "source_directory": "docs/",
    "light_css_variables": {"color-brand-primary": "#b3320f", "color-brand-content": "#a82c0a"},
    "dark_css_variables": {"color-brand-primary": "#ff9166", "color-brand-content": "#ff9a72"},
}
pygments_style = "builder.colours.Light"
pygments_dark_style = "builder.colours.Dark"
