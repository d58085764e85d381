"""What a file says to those that import from it, made from its syntax tree alone, and how names are followed across files."""
