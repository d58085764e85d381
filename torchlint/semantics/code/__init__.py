"""What is written where, which names are bound, and what may run after what. Knows no torch."""
