class Board:
    def __init__(self, rows):
        self.rows = rows

    def size(self, axis):
        return len(self.rows[0]) if axis else len(self.rows)

    def transpose(self, first, second):
        return Board([list(column) for column in zip(*self.rows)])

    def view(self, cells):
        return [cell for row in self.rows for cell in row][:cells]


def make_board(rows):
    return Board(rows)
