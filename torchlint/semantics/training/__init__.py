"""What a training program does: models and their modes, optimizers, steps and evaluations."""
