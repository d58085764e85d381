"""Under which conditions code runs, and what does not run under which."""
