"""What does more than compute, or not the same each time."""

import time

import numpy as np

SEEN = []
COUNTS = {"calls": 0}


class Counter:
    calls = 0


COUNTER = Counter()


def clock(x: float) -> float:
    """
    >>> clock(0.3)
    """
    start = time.perf_counter()
    y = x * x
    print(time.perf_counter() - start)
    return y


def writes_a_file(x: float) -> float:
    """
    >>> writes_a_file(0.3)
    """
    with open("log.txt", "a") as file:
        file.write("called")
    return x * x


def asks(x: float) -> float:
    """
    >>> asks(0.3)
    """
    return x * float(input("How often?"))


def appends_a_number(x: float) -> float:
    """
    >>> appends_a_number(0.3)
    """
    SEEN.append(1.0)
    return x * len(SEEN)


def counts_calls(x: float) -> float:
    """
    >>> counts_calls(0.3)
    """
    COUNTS["calls"] += 1
    return x * x


def counts_in_an_object(x: float) -> float:
    """
    >>> counts_in_an_object(0.3)
    """
    COUNTER.calls += 1
    return x * x


def seeds_globally(x):
    """
    >>> seeds_globally(np.array([0.3, 0.4]))
    """
    np.random.seed(0)
    return np.sum(x * np.random.normal(size=2))
