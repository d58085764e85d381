"""Hazard programs: each rule's pattern, run on torch before and after the rule's own fix.

The command enters here, and the tests; the rules' pages show what was recorded. Linting needs nothing of it.
"""
