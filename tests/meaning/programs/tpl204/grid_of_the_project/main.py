# attacks: TPL204
# promise: what has `transpose` and `view` is a tensor; this board of another file has no `reshape`
from boards import make_board


def by_columns(board, width):
    turned = board.transpose(0, 1)
    return turned.view(width * board.size(1))


print(by_columns(make_board([[1, 2, 3], [4, 5, 6]]), 2))
