class Market:
    def __init__(self):
        self.volatile, self.day = True, 0

    def step(self):
        self.day += 1
        return (0.5 if self.volatile else 0.01) * (-1) ** self.day


def make_market():
    return Market()
