"""What tells a value with a graph from one without, though it names nothing of graphs."""
