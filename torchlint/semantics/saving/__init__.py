"""What is written to files and read from them, and with what of a model."""
