"""What is compiled by `torch.compile`, and whether that is what runs."""
