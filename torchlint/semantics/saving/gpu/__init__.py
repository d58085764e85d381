"""Which programs that load need a GPU, and which have only the one."""
