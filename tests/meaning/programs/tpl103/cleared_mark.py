# attacks: TPL103
# promise: an entry of the project's cache is a tensor
import torch


class Cache:
    """Entries with a flag; volatile ones are forgotten."""

    def __init__(self, entries):
        self.entries = dict(entries)

    def sweep(self):
        self.entries = {key: entry for key, entry in self.entries.items() if not entry.volatile}


class Entry:
    volatile = True

    def __init__(self, value):
        self.value = value


def pin(entry):
    entry.volatile = False
    return entry


torch.manual_seed(0)
cache = Cache((name, Entry(torch.randn(2))) for name in "abc")
pin(cache.entries["b"])
cache.sweep()
print({key: [f"{part:.4f}" for part in entry.value.tolist()] for key, entry in cache.entries.items()})
