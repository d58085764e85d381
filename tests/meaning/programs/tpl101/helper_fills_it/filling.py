def scatter_rows(table, rows, values):
    """Writes values into rows of a table."""
    table.index_copy_(0, rows, values)
