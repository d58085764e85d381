"""Which quotes a file's strings have."""

from __future__ import annotations

from torchlint.text.source import Source


def usual_quote(source: Source) -> str:
    """The quote that more of the file's strings have than the other, docstrings aside."""
    text = source.text.replace('"""', "").replace("'''", "")
    return "'" if text.count("'") > text.count('"') else '"'
