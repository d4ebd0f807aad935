"""Contenders, and their times: in rounds, one after the other, as gemm_bench has them, so that a drifting clock meets all."""
import dataclasses
import time
from collections.abc import Callable

LEAST_ROUNDS = 5
VISIT_SECONDS = 0.02  # of one contender in one round
LONG_RUN = 0.05  # from here on a run is its own warm-up


@dataclasses.dataclass
class Contender:
    name: str
    kind: str  # what multiplies: f32, bf16 dot or int8 dot
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


def race(contenders, seconds):
    """Fills `seconds` of each. The first run of each is not counted, the second tells how long it takes."""
    for contender in contenders:
        contender.run()
    estimates = [clocked(contender.run) for contender in contenders]
    start, rounds = time.perf_counter(), 0
    while rounds < LEAST_ROUNDS or time.perf_counter() - start < seconds * len(contenders):
        for contender, estimate in zip(contenders, estimates):
            visit(contender, estimate)
        rounds += 1
