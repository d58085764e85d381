"""In which mode a model runs, training or evaluation, with autograd on or off, and who sets that."""
