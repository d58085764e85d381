"""What the text of a class shows of the objects that it makes, by itself."""
