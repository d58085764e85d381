"""What stands for values without a graph, as a reader of the file would say: what is looked up, and what is made of arrays."""
