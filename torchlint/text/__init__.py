"""One file's text: decoding it, its lines, comments and notebook cells, and writing it back. Knows neither rules nor files."""
