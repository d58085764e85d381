"""What a variable holds that its own binding does not tell: what a constructor is given, and what is only moved."""
