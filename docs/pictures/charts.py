"""Plots as SVG, written so that the same figures always give the same bytes: bars for a comparison, lines for a curve."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 480
_LEFT, _RIGHT = 20, 20
_BAR, _GAP = 22, 8
_LINE_HEIGHT = 140
_TITLE = 62
"""The characters that fit beside each other."""
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a theme."""

    ground: str
    text: str
    quiet: str
    grid: str
    series: tuple[str, ...]
    """Of the first, the second series."""


THEMES = {
    "light": Colours("#ffffff", "#1f2328", "#57606a", "#d0d7de", ("#b3320f", "#0a6b5e")),
    "dark": Colours("#131416", "#e6e8ea", "#a3abb3", "#3a3f45", ("#ff9166", "#5fd3bc")),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: what it is of, the names of its series, and what they measured at each of its places."""

    title: str
    series: tuple[str, ...]
    places: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """For each series, a value for each place."""
    shown: tuple[tuple[str, ...], ...]
    """The values in words."""
    is_curve: bool = False
    axis: str = ""
    stressed: str = ""
    """Of an only series, the place that the picture is about."""

    @property
    def words(self) -> str:
        """What the plot shows, for whoever does not see it."""
        said = []
        for name, shown in zip(self.series, self.shown, strict=True):
            if self.places == ("",):
                said.append(f"{name} {shown[0]}".strip())
            elif len(self.series) == 1:
                said += [f"{place} {value}" for place, value in zip(self.places, shown, strict=True)]
            else:
                said.append(f"{name} {', '.join(shown)}")
        where = f" ({self.places[0]} to {self.places[-1]})" if self.is_curve else ""
        return f"{self.title}{where}: {'; '.join(said)}."


def svg(heading: str, panels: Sequence[Panel], theme: str, digest: str) -> str:
    """The picture of some panels below a heading, with the digest of the data that it was drawn from."""
    colours = THEMES[theme]
    y = 34.0
    body = []
    for panel in panels:
        parts, y = _curve(panel, colours, y) if panel.is_curve else _bars(panel, colours, y)
        body += parts
        y += 18
    height = math.ceil(y)
    words = escape(" ".join(panel.words for panel in panels))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            f' role="img" aria-labelledby="title desc" font-family="{_FONT}" font-size="13">',
            f'<title id="title">{escape(heading)}</title>',
            f'<desc id="desc">{words}</desc>',
            f"<metadata>sha256:{digest}</metadata>",
            f'<rect width="{WIDTH}" height="{height}" fill="{colours.ground}"/>',
            _text(_LEFT, 24, heading, colours.text, 'font-size="15" font-weight="600"'),
            *body,
            "</svg>\n",
        ]
    )


def _bars(panel: Panel, colours: Colours, y: float) -> tuple[list[str], float]:
    """A bar for each series, or each place of the only series, from a common start."""
    parts, y = _title(panel, colours, y)
    y += 10
    rows = [
        (name if panel.places == ("",) else f"{name} {place}".strip(), value, shown, index)
        for index, name in enumerate(panel.series)
        for place, value, shown in zip(panel.places, panel.values[index], panel.shown[index], strict=True)
    ]
    label = max(80, max(7.0 * len(name) for name, *_ in rows) + 14)
    room = WIDTH - _LEFT - _RIGHT - label - max(7.6 * len(shown) for _, _, shown, _ in rows) - 12
    finite = [abs(value) for _, value, _, _ in rows if math.isfinite(value)]
    most = max(finite, default=0) * (1.25 if len(finite) < len(rows) else 1) or 1
    for name, value, shown, index in rows:
        length = room * (abs(value) / most if math.isfinite(value) else 1)
        colour = colours.series[index if len(panel.series) > 1 else int(name != panel.stressed)]
        parts.append(_text(_LEFT + label - 10, y + 16, name, colours.text, 'text-anchor="end"'))
        parts.append(
            f'<rect x="{_n(_LEFT + label)}" y="{_n(y)}" width="{_n(max(length, 1.5))}" height="{_BAR}" rx="2" fill="{colour}"/>'
        )
        parts.append(_text(_LEFT + label + max(length, 1.5) + 7, y + 16, shown, colours.text))
        y += _BAR + _GAP
    return parts, y - _GAP


def _curve(panel: Panel, colours: Colours, y: float) -> tuple[list[str], float]:
    """A line for each series over the places, each point with its value where there are few."""
    parts, y = _title(panel, colours, y)
    x, y = float(_LEFT), y + 4
    for index, name in enumerate(panel.series):  # the legend
        parts.append(_line([(x, y + 14), (x + 22, y + 14)], colours.series[index], _dash(index), 2.5))
        parts.append(_text(x + 28, y + 18, name, colours.text))
        x += 28 + 7.0 * len(name) + 24
    top, bottom = y + 46, y + 46 + _LINE_HEIGHT
    left, right = _LEFT + 26, WIDTH - _RIGHT - 30
    values = [value for series in panel.values for value in series]
    least, most = min(0.0, *values), max(values) or 1.0
    step = (right - left) / max(len(panel.places) - 1, 1)

    def at(place: int, value: float) -> tuple[float, float]:
        return left + step * place, bottom - (bottom - top) * (value - least) / (most - least)

    parts.append(_line([(left - 14, at(0, 0)[1]), (right + 14, at(0, 0)[1])], colours.grid))
    for place, name in enumerate(panel.places):
        parts.append(_text(at(place, 0)[0], bottom + 20, name, colours.quiet, 'text-anchor="middle"'))
    for index, series in enumerate(panel.values):
        points = [at(place, value) for place, value in enumerate(series)]
        parts.append(_line(points, colours.series[index], _dash(index), 2.5))
        others = [other for number, other in enumerate(panel.values) if number != index]
        for place, (px, py) in enumerate(points):
            parts.append(f'<circle cx="{_n(px)}" cy="{_n(py)}" r="4" fill="{colours.series[index]}"/>')
            if index and any(other[place] == series[place] for other in panel.values[:index]):
                continue  # said already
            if len(set(series)) == 1 and place < len(series) - 1:
                continue  # said at the end
            above = all(series[place] >= other[place] for other in others) or py + 22 > bottom
            said = panel.shown[index][place]
            parts.append(_text(px, py - 10 if above else py + 18, said, colours.text, 'text-anchor="middle" font-size="12"'))
    bottom += 30
    if panel.axis:
        parts.append(_text((left + right) / 2, bottom + 8, panel.axis, colours.quiet, 'text-anchor="middle"'))
        bottom += 12
    return parts, bottom


def _title(panel: Panel, colours: Colours, y: float) -> tuple[list[str], float]:
    """What a plot is of, in as many lines as that takes."""
    lines = textwrap.wrap(panel.title, _TITLE)
    return [_text(_LEFT, y + 18 * number, line, colours.quiet) for number, line in enumerate(lines, 1)], y + 18 * len(lines)


def _dash(index: int) -> str:
    """The second series is told from the first without colours, too."""
    return "" if index == 0 else "6 4"


def _line(points: Sequence[tuple[float, float]], colour: str, dash: str = "", width: float = 1.5) -> str:
    path = " ".join(_pairs(points))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>'


def _pairs(points: Sequence[tuple[float, float]]) -> Iterator[str]:
    for x, y in points:
        yield f"{_n(x)},{_n(y)}"


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" fill="{colour}"{" " + more if more else ""}>{escape(text)}</text>'


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
