"""Whether code computes the same where autograd is off: what it runs, what it hands out, and what the layers do."""
