"""JUnit's XML, which most continuous integration services can show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from torchlint.diagnostic import printable
from torchlint.reporters.report import Report


def render(report: Report) -> Iterator[str]:
    """A test suite for each file with findings, in which each finding is a failed test; without any, one that passed."""
    root = Element("testsuites", name="torchlint")
    for filename, diagnostics in groupby(report.diagnostics, key=lambda diagnostic: diagnostic.filename):
        suite = SubElement(root, "testsuite", name=printable(filename), package="torchlint")
        for diagnostic in diagnostics:
            case = SubElement(suite, "testcase", name=diagnostic.code, classname=printable(filename))
            case.set("line", str(diagnostic.json_row or diagnostic.location.row))
            if diagnostic.json_row is None:
                case.set("column", str(diagnostic.location.column))
            failure = SubElement(case, "failure", message=printable(diagnostic.message), type=diagnostic.severity)
            failure.text = printable(f"{diagnostic.place}: {diagnostic.code} {diagnostic.message}")
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite)))
        suite.set("errors", "0")
    if report.errors:
        suite = SubElement(root, "testsuite", name="errors", package="torchlint")
        for error in report.errors:
            case = SubElement(suite, "testcase", name=error.code, classname=printable(error.filename))
            SubElement(case, "error", message=printable(error.message)).text = printable(str(error))
        suite.set("tests", str(len(suite)))
        suite.set("failures", "0")
        suite.set("errors", str(len(suite)))
    if not len(root):
        suite = SubElement(root, "testsuite", name="torchlint", package="torchlint", tests="1", failures="0", errors="0")
        SubElement(suite, "testcase", name="no findings", classname="torchlint")
    root.set("tests", str(sum(int(suite.get("tests", "0")) for suite in root)))
    root.set("failures", str(len(report.diagnostics)))
    root.set("errors", str(len(report.errors)))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield ElementTree.tostring(root, encoding="unicode") + "\n"
