class Boxes(list):
    """Corners of rectangles, cut from the image that they were found in."""

    def __init__(self, rows, image=None):
        super().__init__(rows)
        self.image = image

    def detach(self):
        return Boxes(self)


def load(name):
    return Boxes([[0.0, 0.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0]], image=name)
