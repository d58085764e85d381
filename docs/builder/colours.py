"""The colours of code: each with a contrast of at least 4.5 to the ground it stands on."""

from __future__ import annotations

from pygments.style import Style
from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Token,
)


def _styles(
    plain: str, quiet: str, word: str, text: str, number: str, name: str, removed: str, added: str
) -> dict[object, str]:
    return {
        Token: plain,
        Text: plain,
        Punctuation: plain,
        Operator: plain,
        Name: plain,
        Error: plain,
        Comment: f"italic {quiet}",
        Keyword: word,
        Operator.Word: word,
        Literal: number,
        String: text,
        Number: number,
        Name.Function: name,
        Name.Class: name,
        Name.Decorator: name,
        Name.Tag: name,
        Name.Attribute: name,
        Name.Builtin: word,
        Name.Exception: name,
        Generic.Deleted: removed,
        Generic.Inserted: added,
        Generic.Heading: f"bold {plain}",
        Generic.Subheading: quiet,
        Generic.Prompt: quiet,
        Generic.Output: plain,
        Generic.Error: plain,
        Generic.Traceback: plain,
    }


class Light(Style):
    """On a light ground."""

    background_color = "#f6f6f4"
    highlight_color = "#fff0c4"
    styles = _styles("#24292f", "#57606a", "#8a1c7c", "#0a5c36", "#0b4fa8", "#5a3bb0", "#a40e26", "#0a5c36")


class Dark(Style):
    """On a dark ground."""

    background_color = "#1d1f21"
    highlight_color = "#4a4020"
    styles = _styles("#e2e4e6", "#a3abb3", "#f0a6e4", "#8fdcae", "#8ec1ff", "#c5b1ff", "#ff9e9e", "#8fdcae")
