"""Rules about data loaders: their order, their samplers and their workers."""
