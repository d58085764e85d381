class BoxList:
    def __init__(self, coords):
        self.coords = coords

    def to(self, device):
        self.coords = self.coords.to(device)

    def size(self, dim):
        return self.coords.size(dim)

    def numel(self):
        return self.coords.numel()

    def dim(self):
        return self.coords.dim()


def scores(boxes):
    return [round(v, 4) for v in boxes.coords.mean(1).tolist()]
