class Slot:
    """A named tensor of a pool."""

    def __init__(self, name, data):
        self.name = name
        self.data = data

    def __len__(self):
        return len(self.data)
