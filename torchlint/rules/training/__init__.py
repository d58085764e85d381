"""The training loop: losses, optimizers, schedulers and mixed precision."""
