#!/usr/bin/env python3
"""1 GiB down and up, and 256 MiB slowly; otherwise as test_big_bodies.py."""

import itertools
import unittest

import test_big_bodies


class LongBigBodies(test_big_bodies.BigBodies):
    body_bytes = 1 << 30
    slow_cases = list(itertools.product(["plain", "tls", "dpop"], ["length", "chunked"]))
    slow_bytes, slow_rate = 256 << 20, 64 << 20


if __name__ == "__main__":
    unittest.main()
