"""Patterns of `torch.einsum` and of einops: why they are refused, if they are."""

from __future__ import annotations

import pytest

from torchlint.semantics.numerics.equations import axes, refused_by_einops, refused_by_torch, subscripts, with_letters


@pytest.mark.parametrize(
    ("equation", "operands"),
    [
        ("ij,jk->ik", 2),
        ("i j, j k -> i k", 2),
        ("...ij,jk->...ik", 2),
        ("ij->...i", 1),
        ("ij,->ij", 2),
        ("ii->i", 1),
        ("ij,jk", None),
        ("bc hw,bc->b hw", 2),
        ("", 1),
    ],
)
def test_equation_is_taken(equation: str, operands: int | None) -> None:
    assert refused_by_torch(equation, operands) is None


@pytest.mark.parametrize(
    ("equation", "operands", "reason"),
    [
        ("ij,jk->il", 2, "`l` is in the output and in no operand"),
        ("ij,jk->ikk", 2, "`k` is in the output twice"),
        ("ij,jk", 1, "it has 2 terms for 1 operand"),
        ("ij->i", 2, "it has 1 term for 2 operands"),
        ("ij,jk=>ik", None, "`=` is neither a letter nor part of `->`"),
        ("ij,jk- >ik", None, "`-` is neither a letter nor part of `->`"),
        ("ij,jk>ik", None, "`>` is neither a letter nor part of `->`"),
        ("ij->j->i", None, "it has more than one `->`"),
        ("..ij->ij", None, "an ellipsis is three dots"),
        ("i...j...->ij", None, "`i...j...` has dots beside its ellipsis"),
        ("batch i, batch j -> i j", None, "each letter is an axis, so that `batch` is 5"),
    ],
)
def test_equation_is_refused(equation: str, operands: int | None, reason: str) -> None:
    refusal = refused_by_torch(equation, operands)
    assert refusal is not None
    assert refusal.reason == reason


def test_dimensions_that_are_wanted() -> None:
    assert subscripts("b i j, ...k, -> i") == [3, None, 0]
    assert (axes("b c (h p) w -> b"), axes("() 1 (a b) -> a b"), axes("b ... -> b")) == (4, 3, None)


@pytest.mark.parametrize(
    ("equation", "meant"),
    [
        ("batch i d, batch j d -> batch i j", "bid, bjd -> bij"),
        ("time i, tokens i -> time tokens", "ti, ji -> tj"),
        ("ij,jk=>ik", "ij,jk -> ik"),
        ("ij,jk- >ik", "ij,jk -> ik"),
        ("ij,jk->il", None),
        ("i1,jk->ik", None),
        ("(i j) -> i", None),
    ],
)
def test_equation_that_was_meant(equation: str, meant: str | None) -> None:
    assert with_letters(equation) == meant


@pytest.mark.parametrize(
    ("function", "pattern", "lengths"),
    [
        ("rearrange", "b c (h p) (w q) -> b (h w) (p q c)", "pq"),
        ("rearrange", "b c h w -> (b h) () (c w) 1", ""),
        ("rearrange", "b ... -> b (...)", ""),
        ("rearrange", "b c h w -> b c h w", "b"),
        ("reduce", "b c (h 2) (w 2) -> b c h w", ""),
        ("reduce", "b c h w -> b c 1 1", ""),
        ("repeat", "b c -> b (c 2) 3 n", "n"),
        ("repeat", "() c -> b c", "b"),
    ],
)
def test_pattern_is_taken(function: str, pattern: str, lengths: str) -> None:
    assert refused_by_einops(function, pattern, frozenset(lengths)) is None


@pytest.mark.parametrize(
    ("function", "pattern", "lengths", "reason"),
    [
        ("rearrange", "b c h w", "", "it has no `->`"),
        ("rearrange", "b c -> b -> c", "", "it has more than one `->`"),
        ("rearrange", "b c h w -> b c (h w", "", "a parenthesis is not closed"),
        ("rearrange", "b c) -> b c", "", "a parenthesis is not opened"),
        ("rearrange", "b c h -> (b (c h))", "", "parentheses stand in parentheses"),
        ("rearrange", "b c, h -> b h c", "", "`c,` is no name of an axis"),
        ("rearrange", "b _ -> _ b", "", "`_` is no name of an axis"),
        ("rearrange", "b b -> b", "", "`b` is there twice on one side"),
        ("rearrange", "b c h -> b c", "", "`h` is on the left side only"),
        ("rearrange", "b c -> b c h", "", "`h` is on the right side only"),
        ("rearrange", "b c -> b ... c", "", "the ellipsis is on the right side only"),
        ("rearrange", "b (...) -> b ...", "", "an ellipsis stands in parentheses on the left side"),
        ("rearrange", "b 2 -> b 2", "", "the axis of size 2 has no name"),
        ("rearrange", "b (h p) -> b h p", "", "nothing tells the length of `h` or `p`"),
        ("rearrange", "b c -> c b", "p", "a length is given for `p`, which is not in it"),
        ("reduce", "b c -> b x", "", "`x` is on the right side only"),
        ("reduce", "b c -> b 2", "", "the axis of size 2 has no name"),
        ("repeat", "b c -> b c n", "", "nothing tells the length of `n`"),
        ("repeat", "b c -> b", "", "`c` is on the left side only"),
        ("repeat", "b 2 -> b 3", "", "the axis of size 2 has no name"),
    ],
)
def test_pattern_is_refused(function: str, pattern: str, lengths: str, reason: str) -> None:
    refusal = refused_by_einops(function, pattern, frozenset(lengths))
    assert refusal is not None
    assert refusal.reason == reason


def test_lengths_that_are_not_known_are_not_missed() -> None:
    assert refused_by_einops("rearrange", "b (h p) -> b h p", None) is None
    assert refused_by_einops("repeat", "b -> b n", None) is None
