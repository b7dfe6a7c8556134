#!/usr/bin/env python3
"""5,000 slow uploads at once; otherwise as test_slow_uploads.py."""

import unittest

import test_slow_uploads


class LongSlowUploads(test_slow_uploads.SlowUploads):
    uploads, limits = 5_000, {"waiting": 10_000}


if __name__ == "__main__":
    unittest.main()
