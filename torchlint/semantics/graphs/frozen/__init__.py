"""Networks all of whose parameters are frozen from when they are made: what they give has a graph only if what they get has."""
