#!/usr/bin/env python3
"""1,000 logins; otherwise as test_killed_refreshes.py."""

import unittest

import test_killed_refreshes


class LongKilledRefreshes(test_killed_refreshes.KilledRefreshes):
    logins_count = 1_000


if __name__ == "__main__":
    unittest.main()
