"""How data is loaded, what loaders and their workers are told, and what a program loads that it has saved before."""
