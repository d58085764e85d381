"""The page of what a rule can ask."""

from __future__ import annotations

import re

from torchlint.cli.model_page import model_page

PAGE = model_page()


def test_each_group_of_questions_has_its_heading_once_and_questions_below_it() -> None:
    groups = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    headings = [group.partition("\n")[0] for group in groups]
    assert headings[0] == "What every rule asks"
    assert {"`model.memory`", "`model.modules`", "`model.training`", "`model.autograd`"} <= set(headings)
    assert len(set(headings)) == len(headings)
    for heading, group in zip(headings[1:], groups[1:]):
        questions = re.findall(r"^\*\*`(model\.\w+)\.\w+\(", group, flags=re.MULTILINE)
        assert set(questions) == {heading.strip("`")}


def test_a_question_has_its_signature_and_its_docstring() -> None:
    assert "**`model.memory.is_copied_for_nothing(array: cst.BaseExpression) -> bool`**  \n" in PAGE


def test_questions_of_the_engine_and_private_ones_are_not_shown() -> None:
    names = re.findall(r"^\*\*`model\.(?:\w+\.)?(\w+)\(", PAGE, flags=re.MULTILINE)
    assert len(names) > 50
    assert not {"twin", "answered", "parsed", "span"} & set(names)
    assert not [name for name in names if name.startswith("_")]


def test_each_question_says_what_it_asks() -> None:
    answers = re.findall(r"^\*\*`.*`\*\*  \n(.*)$", PAGE, flags=re.MULTILINE)
    assert len(answers) == PAGE.count("\n**`")
    assert all(answers)


def test_it_is_markdown_without_reST_or_self() -> None:
    assert "``" not in PAGE
    assert "(self" not in PAGE
    assert PAGE.endswith("\n")
    assert not PAGE.endswith("\n\n")
