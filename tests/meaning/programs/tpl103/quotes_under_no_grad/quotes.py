from dataclasses import dataclass


@dataclass
class Quote:
    name: str
    prices: list
    volatile: bool = None


def load_quotes():
    return [Quote("calm", [1.0, 1.0, 1.0]), Quote("wild", [-3.0, 4.0, -9.0])]
