"""What a value is: a tensor, a module, an optimizer; with its graph or without."""
