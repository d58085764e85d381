"""The training step as a whole: its acts, in the order in which a round may run them, and what goes wrong between them:
gradients that pile up, are wiped, clipped too late, or of weights that have changed."""
