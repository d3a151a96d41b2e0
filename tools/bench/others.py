"""Reports per second of other libraries, and their errors, as JSON; runs in the benchmark's own environment."""

from __future__ import annotations

import json
import math
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


BOXES = ((8, 2.0), (20, 2.0), (5, 1.0))
"""Numbers of yes-no attributes, and the epsilon of all of them together."""

PEOPLE = 20_000


def errors() -> dict[str, float]:
    """``n`` times the mean squared error of the shares of several yes-no attributes, half of all people with each."""
    import numpy as np
    from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution, SPL_solution

    dice = np.random.default_rng(16)
    found = {}
    for k, epsilon in BOXES:
        options = [2] * k
        squares: dict[str, list[float]] = {"SPL": [], "SMP": [], "RS+FD": []}
        for _ in range(ROUNDS):
            people = dice.integers(0, 2, (PEOPLE, k)).tolist()
            for name, module in (("SPL", SPL_solution), ("SMP", SMP_solution), ("RS+FD", RSpFD_solution)):
                prefix = name.replace("RS+FD", "RSpFD")
                client = getattr(module, f"{prefix}_GRR_Client")
                aggregate = getattr(module, f"{prefix}_GRR_Aggregator_MI")
                reports = [client(answers, options, k, epsilon) for answers in people]
                shares = np.array(aggregate(reports, options, k, epsilon))[:, 1]
                squares[name].append(((shares - 0.5) ** 2).mean())
        for name, each in squares.items():
            found[f"multi-freq-ldpy 0.2.5, {name}, {k} boxes, epsilon {epsilon:g}"] = PEOPLE * float(np.mean(each))
    return found | split_errors()


FEW, OFTEN = 200, 60
"""People and repetitions for libraries of single attributes; ``n`` times the squared error depends on no ``n``."""


def split_errors() -> dict[str, float]:
    """Errors of libraries that know one attribute at a time: each is told at a part of epsilon."""
    import numpy as np
    import opendp.prelude as dp
    from pure_ldp.frequency_oracles import DEClient, DEServer

    dp.enable_features("contrib")
    dice = np.random.default_rng(17)
    found = {}
    for k, epsilon in BOXES:
        keep = 1 / (1 + math.exp(-epsilon / k))
        coin = dp.m.make_randomized_response_bool(keep)
        client = DEClient(epsilon=epsilon / k, d=2, index_mapper=lambda x: x)
        squares: dict[str, list[float]] = {"opendp 0.16": [], "pure-LDP 1.2.0": []}
        for _ in range(OFTEN):
            for answers in dice.integers(0, 2, (k, FEW)).tolist():
                said = sum(coin(bool(answer)) for answer in answers)
                share = (said / FEW - (1 - keep)) / (2 * keep - 1)
                squares["opendp 0.16"].append((share - 0.5) ** 2)
                server = DEServer(epsilon=epsilon / k, d=2, index_mapper=lambda x: x)
                for answer in answers:
                    server.aggregate(client.privatise(answer))
                squares["pure-LDP 1.2.0"].append((float(server.estimate(1)) / FEW - 0.5) ** 2)
        for name, each in squares.items():
            found[f"{name}, epsilon split, {k} boxes, epsilon {epsilon:g}"] = FEW * float(np.mean(each))
    return found


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
    rates = {
        "opendp 0.16, yes-no": rate(lambda n: [boolean(bool(x % 2)) for x in answers[:n]], 5000),
        "opendp 0.16, k = 4": rate(lambda n: [options("abcd"[x]) for x in answers[:n]], 5000),
        "pure-LDP 1.2.0, k = 4": rate(lambda n: [direct.privatise(x) for x in answers[:n]], 20_000),
        "multi-freq-ldpy 0.2.5, k = 4": rate(lambda n: [GRR_Client(x, 4, 1.0) for x in answers[:n]], 20_000),
        "multi-freq-ldpy 0.2.5, subsets of 30": rate(lambda n: [SS_Client(x, 30, 1.0) for x in answers[:n]], 20_000),
    }
    print(json.dumps({"rates": rates, "errors": errors()}))


if __name__ == "__main__":
    main()
