"""What single files of a project tell when they are asked for one thing, kept until they change: each by its text alone."""
