"""Rules about code that is distributed over processes, and code that is compiled."""
