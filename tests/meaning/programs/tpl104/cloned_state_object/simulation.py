class State:
    def __init__(self, data, time=0):
        self.data, self.time = data, time

    def advance(self, force):
        self.data += 0.1 * force
        self.time += 1

    def clone(self):
        return State(self.data.clone(), self.time)
