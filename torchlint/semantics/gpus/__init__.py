"""Which code needs a GPU, as it is written, whatever the flags of the program say."""
