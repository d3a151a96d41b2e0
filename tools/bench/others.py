"""Reports per second of other libraries, as JSON; runs in the benchmark's own environment."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable

ROUNDS = 5


def rate(run: Callable[[int], object], n: int) -> float:
    """Median reports per second of a loop over ``n`` answers, as these libraries are used."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(n)
        times.append(time.perf_counter() - start)
    return n / statistics.median(times)


def main() -> None:
    import opendp.prelude as dp
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from pure_ldp.frequency_oracles import DEClient

    dp.enable_features("contrib")
    boolean = dp.m.make_randomized_response_bool(0.75)
    options = dp.m.make_randomized_response(["a", "b", "c", "d"], 0.4754)
    direct = DEClient(epsilon=1, d=4, index_mapper=lambda x: x)
    GRR_Client(1, 4, 1.0), SS_Client(1, 30, 1.0)  # compiled by the first call
    answers = [random.randrange(4) for _ in range(20_000)]
    print(
        json.dumps(
            {
                "opendp 0.16, yes-no": rate(lambda n: [boolean(bool(x % 2)) for x in answers[:n]], 5000),
                "opendp 0.16, k = 4": rate(lambda n: [options("abcd"[x]) for x in answers[:n]], 5000),
                "pure-LDP 1.2.0, k = 4": rate(lambda n: [direct.privatise(x) for x in answers[:n]], 20_000),
                "multi-freq-ldpy 0.2.5, k = 4": rate(lambda n: [GRR_Client(x, 4, 1.0) for x in answers[:n]], 20_000),
                "multi-freq-ldpy 0.2.5, subsets of 30": rate(
                    lambda n: [SS_Client(x, 30, 1.0) for x in answers[:n]], 20_000
                ),
            }
        )
    )


if __name__ == "__main__":
    main()
