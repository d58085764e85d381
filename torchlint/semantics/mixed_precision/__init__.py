"""Training in two precisions: losses that are scaled, what has to undo that, and what autocast is for."""
