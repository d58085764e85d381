"""Whether a graph that was built before a place in the code may be back-propagated behind it."""
