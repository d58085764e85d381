"""Who may notice that code has changed: who calls it, what imports it, what looks at frames, names, errors and warnings."""
