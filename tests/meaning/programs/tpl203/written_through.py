# attacks: TPL203
# promise: nobody reads the source for the write that was made through the view; this code does
import torch


class Accumulator:
    """Keeps one row of counts, and shows it once for each worker."""

    def __init__(self, workers, bins):
        self.counts = torch.zeros(bins)
        self.workers = self.counts.expand(workers, bins)

    def add(self, worker, bins):
        row = self.workers[worker]
        row.index_add_(0, bins, torch.ones(len(bins)))

    def reset(self, worker):
        self.workers[worker] *= 0


acc = Accumulator(3, 4)
acc.add(0, torch.tensor([1, 2]))
print(acc.counts.tolist())
acc.reset(2)
acc.add(1, torch.tensor([3]))
print(acc.counts.tolist(), acc.workers[2].tolist())
