"""Training mode and evaluation mode, gradients in evaluations, and what a frozen layer still does."""
