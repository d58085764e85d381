"""What is done with the ``.data`` of tensors, and what can be done instead. Asks all that tells what a value is and shares."""
