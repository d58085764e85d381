"""The rules of a team: every rule in a module of this package is found by being there."""
