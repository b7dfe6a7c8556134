#!/usr/bin/env python3
"""50,000 mutated requests and responses, with a seed of their own each time, printed, unless MUTATION_SEED says one."""

import random
import unittest

import test_mutated_messages


class ManyMutatedMessages(test_mutated_messages.MutatedMessages):
    request_count, response_count = 35_000, 15_000
    seed = random.SystemRandom().randrange(1 << 32)


if __name__ == "__main__":
    unittest.main()
