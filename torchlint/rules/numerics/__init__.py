"""Rules about numbers: losses, metrics, numerics."""
