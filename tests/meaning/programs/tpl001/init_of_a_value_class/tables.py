from dataclasses import dataclass

import torch


@dataclass
class Table:
    name: str
    data: torch.Tensor


def make_tables(shapes):
    return [Table(name, torch.empty(shape, requires_grad=True)) for name, shape in shapes.items()]
