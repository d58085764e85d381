"""What stands for values without a graph, as a reader would say: what is looked up, cut, unrecorded, made of arrays."""
