"""Whether a class is a module, and what is in it."""
