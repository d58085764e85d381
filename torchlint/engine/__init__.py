"""From a text to its findings and its fixed text, and from many files to their results."""
