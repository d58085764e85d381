"""The names by which new code calls things: how they are spelled, imported and renamed."""
