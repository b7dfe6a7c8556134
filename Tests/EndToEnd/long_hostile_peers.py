#!/usr/bin/env python3
"""10,000 exchanges with hostile peers, each client with each upstream at least twice; otherwise as
test_hostile_peers.py. The dice are new for each run; HOSTILE_SEED repeats one.
"""

import os
import random
import unittest

import test_hostile_peers


class LongHostilePeers(test_hostile_peers.HostilePeers):
    exchanges_count, warm_up_count = 10_000, 3_000
    growth_kilobytes_max = 4_096
    seed = int(os.environ.get("HOSTILE_SEED") or random.randrange(1 << 32))


if __name__ == "__main__":
    unittest.main()
