"""What a benchmark stands on: a directory and children that are gone when it ends."""

import contextlib
import pathlib
import shutil
import tempfile

import harness


class Bench(contextlib.ExitStack):
    """What harness.Stage is to a test. After an error the directory stays."""

    def __init__(self, parent=None):
        """parent: where the directory is made; default: where temporary files are."""
        super().__init__()
        self.parent = parent

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="proofd-bench-", dir=self.parent))
        return super().__enter__()

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        if kind is None:
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            print(f"kept: {self.directory}", flush=True)

    addCleanup = contextlib.ExitStack.callback
    start, write, run_command = harness.Stage.start, harness.Stage.write, harness.Stage.run_command
