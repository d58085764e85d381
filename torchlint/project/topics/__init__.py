"""What the files of a project may speak of: each topic told by the code of one file after the other."""
