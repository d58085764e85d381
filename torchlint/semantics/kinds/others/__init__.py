"""What the project's other files tell of the kinds of their functions, methods and attributes."""
