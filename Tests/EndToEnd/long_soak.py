#!/usr/bin/env python3
"""200,000 requests with nonces and tokens that end every few seconds: no failure, no growth."""

import unittest

from harness import Proofd, Simulator, Stage, result

ROUNDS, REQUESTS = 20, 10_000
GROWTH_KILOBYTES_MAX = 4_096


class Soak(Stage):
    def test_memory_and_answers_stay_as_they_are(self):
        simulator = Simulator(self, nonces="once", token_seconds=10)
        simulator.set(api={"nonce": {"lifetime_seconds": 3}})
        proofd = Proofd(
            self, {"svc": simulator.credential()},
            {"api": {"path": "/api", "upstream": simulator.api, "credential": "svc"}}, simulator.environment,
        )
        sizes = []
        for _ in range(ROUNDS):
            self.assertEqual(proofd.curl(f"/api/bytes/1000?[1-{REQUESTS}]", connections=16), {"200": REQUESTS})
            sizes.append(proofd.child.memory_kilobytes())
        self.assertLess(sizes[-1] - sizes[1], GROWTH_KILOBYTES_MAX, sizes)
        result(f"{ROUNDS * REQUESTS} requests: {sizes[1]} kB after {2 * REQUESTS}, {sizes[-1]} kB at the end")


if __name__ == "__main__":
    unittest.main()
