"""Contenders and their times, measured in interleaved rounds as in gemm_bench, so that a drifting clock affects all.

Each library has a separate thread: ggml sets up the AMX tiles once per thread, and oneDNN releases them.
"""
import concurrent.futures
import dataclasses
import time
from collections.abc import Callable

LEAST_ROUNDS = 5
VISIT_SECONDS = 0.02  # of one contender in one round
LONG_RUN = 0.05  # longer runs need no warm-up


class Library:
    """The contenders of a module of this folder, and the thread that creates and runs them."""

    def __init__(self, name, contenders):
        self.name = name
        self.contenders = contenders
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def make(self, *arguments):
        return self.on_thread(self.contenders, *arguments)

    def on_thread(self, function, *arguments):
        return self.thread.submit(function, *arguments).result()


@dataclasses.dataclass
class Contender:
    name: str
    kind: str  # multiplication: f32, bf16 dot or int8 dot
    weight_bytes: int
    run: Callable[[], object]
    is_packed: bool = False
    seconds: list[float] = dataclasses.field(default_factory=list)


def clocked(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def visit(contender, estimate):
    if estimate < LONG_RUN:
        contender.run()
    for _ in range(max(1, int(VISIT_SECONDS / estimate))):
        contender.seconds.append(clocked(contender.run))


def race(lanes, seconds):
    """Fills `seconds` of each (library, contender). The first run is a warm-up, the second estimates the duration."""
    for library, contender in lanes:
        library.on_thread(contender.run)
    estimates = [library.on_thread(clocked, contender.run) for library, contender in lanes]
    start, rounds = time.perf_counter(), 0
    while rounds < LEAST_ROUNDS or time.perf_counter() - start < seconds * len(lanes):
        for (library, contender), estimate in zip(lanes, estimates):
            library.on_thread(visit, contender, estimate)
        rounds += 1
