"""Legacy idioms: pre-0.4 code that now crashes, does nothing or means something else."""
