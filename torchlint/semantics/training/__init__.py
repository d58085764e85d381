"""What a training program has: its loops, its optimizers, what they update, and what of a model is frozen."""
