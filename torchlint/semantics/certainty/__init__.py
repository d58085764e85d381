"""What is certain of values, on every path: what safe fixes rest on. Kinds say what is likely; here that does not count."""
