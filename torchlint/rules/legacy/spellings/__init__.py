"""What old calls were, what they are called today, and how the one becomes the other."""
