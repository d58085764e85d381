"""What is left of torch 0.3 in a file: its wrapper of tensors, `Variable`, and that one's switch `volatile`."""
