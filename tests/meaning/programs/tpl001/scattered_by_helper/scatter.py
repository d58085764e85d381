def write_rows(target, rows, values):
    """Writes the values into rows of the target, in place."""
    for row, value in zip(rows, values):
        target[row] = value
    return len(rows)
