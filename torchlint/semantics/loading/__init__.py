"""How data is loaded: what the loaders of a training are told, and what their workers do."""
