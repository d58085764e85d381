"""What outputs of models are, logits, probabilities or their logarithms, and what losses and thresholds take them for."""
