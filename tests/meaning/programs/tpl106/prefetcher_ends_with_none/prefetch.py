class PrefetchLoader:
    """Hands out the next batch, or None behind the last, as the prefetchers of ImageNet scripts do."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return Prefetcher(self.batches)


class Prefetcher:
    def __init__(self, batches):
        self._batches = iter(batches)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._batches)

    def next(self):
        return next(self._batches, None)
