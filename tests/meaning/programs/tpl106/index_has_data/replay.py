class Slots:
    def __init__(self):
        self._slots = {}

    def __len__(self):
        return len(self._slots)

    def add(self, slot, item):
        self._slots[slot] = item

    def total(self):
        return sum(self._slots.values())


class Replay:
    def __init__(self):
        self.data = Slots()
