"""`nn.Sequential`: which layers one has, as far as the file writes them out."""
