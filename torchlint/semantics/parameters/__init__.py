"""What becomes of the parameters of modules: who is given them, and what is left of them."""
