class Phased:
    """Phases are properties: `net.train`, `net.eval`."""

    switches = 0

    def _switch(self, mode):
        self.switches += 1
        for module in self.modules():
            module.training = mode

    @property
    def train(self):
        self._switch(True)

    @property
    def eval(self):
        self._switch(False)
