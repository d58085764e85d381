"""Runs of models: what they are for, and what stays of the graphs that they record."""
