"""Work that is spread over processes: who gets what, and that all of it is done once."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict

import pytest

from torchlint.engine.workers import spread


def slowly(item: str) -> int:
    """Which process did the work on an item."""
    time.sleep(0.005)
    return os.getpid()


def test_a_group_goes_to_one_worker_until_another_has_nothing_left() -> None:
    items = [f"{folder}/{index}" for folder in ("a", "b") for index in range(12)]
    by_folder: dict[str, list[tuple[int, object]]] = defaultdict(list)
    for item, process in spread(slowly, ((item, 1) for item in items), 2, os.path.dirname):
        folder, _, index = item.partition("/")
        by_folder[folder].append((int(index), process))
    first = {folder: {process for index, process in found if index < 4} for folder, found in by_folder.items()}
    assert {folder: len(processes) for folder, processes in first.items()} == {"a": 1, "b": 1}
    assert first["a"] != first["b"]


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (80, 1), (1, 80), (40,), (3, 0, 7, 2)])
def test_each_item_is_done_once_however_large_the_groups(sizes: tuple[int, ...], jobs: int) -> None:
    items = [f"{group}/{index}" for group, size in enumerate(sizes) for index in range(size)]
    done = Counter(item for item, _ in spread(len, ((item, 1) for item in items), jobs, os.path.dirname))
    assert done == Counter(items)


def test_items_of_a_large_group_are_shared() -> None:
    processes = {process for _, process in spread(slowly, ((f"a/{index}", 1) for index in range(60)), 2, os.path.dirname)}
    assert len(processes) == 2
