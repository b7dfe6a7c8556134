#!/usr/bin/env python3
"""More rounds, and long enough for tokens that a timer renews; otherwise as test_many_processes.py."""

import unittest

import test_many_processes


class LongExpiry(test_many_processes.Expiry):
    rounds = 10


class LongSteadyState(test_many_processes.SteadyState):
    seconds = 62


if __name__ == "__main__":
    unittest.main()
