class Ring:
    """The last few numbers."""

    def __init__(self, size):
        self.size, self.data = size, []

    def push(self, value):
        self.data = [*self.data, value][-self.size :]
