"""The command: its arguments, its sub-commands, what it prints and its exit codes."""
