"""Which values are losses by what the file does with them."""
