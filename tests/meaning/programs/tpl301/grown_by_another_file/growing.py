import copy


def widen(tower, times):
    """Repeats each block, as depth up-scaling does."""
    tower.blocks = [copy.deepcopy(block) for block in tower.blocks for _ in range(times)]
