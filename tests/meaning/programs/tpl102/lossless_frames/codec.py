class Encoded:
    def __init__(self, runs, length):
        self.data = bytes(part for run in runs for part in run)
        self.ratio = round(len(self.data) / length, 2)


def encode(frame):
    """Run lengths, as pairs of bytes."""
    values, runs = [int(value) for value in frame.tolist()], []
    for value in values:
        if runs and runs[-1][1] == value:
            runs[-1][0] += 1
        else:
            runs.append([1, value])
    return Encoded(runs, len(values))
