"""What the text of a class or a function shows by itself: what objects hold, run and freeze, and what has no graph."""
