"""Whether a value carries graph, and who needs that."""
