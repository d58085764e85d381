"""The command: its arguments, its sub-commands, and what it writes where.

Nothing imports from here but `torchlint.__main__` and the installed script; a sub-command is imported by the run that needs it.
"""
