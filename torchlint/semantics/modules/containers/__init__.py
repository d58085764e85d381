"""Containers of modules and parameters that have no `forward`: what makes them, and where they are called."""
