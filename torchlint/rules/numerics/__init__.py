"""Rules about numbers: losses, metrics, numerics."""

"""Rules about losses, metrics and numerics."""
