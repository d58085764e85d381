"""What becomes of numbers: where floats overflow or underflow though the result would not."""
