"""What a training program does: its loops, its optimizers, and the acts of a training step."""
