"""Hazard programs: each rule's pattern, run on torch before and after the rule's own fix."""
