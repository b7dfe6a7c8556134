"""How things are measured: pinned, by turns, as a ratio in each round."""

import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import time

PROXY_CPU, LOAD_CPU = 0, 1
ALL_CPUS = f"{PROXY_CPU},{LOAD_CPU}"
WAITED = "% of the time kept waiting"
WAITED_MAX = 5  # more of it makes speeds and latencies the machine's, not the proxy's
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def pinned(cpus):
    """The beginning of a command that may run on these processors only."""
    return ["taskset", "--cpu-list", str(cpus)]


def load_by_this_process():
    """What this process sends and takes itself runs where the load belongs."""
    os.sched_setaffinity(0, {LOAD_CPU})


def with_children(pid):
    """A process and those it has started."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


@dataclasses.dataclass
class Processor:
    """What the threads of some processes have had of the processors, in seconds."""

    used: float  # kernel time included
    waited: float  # ready to run while something else did

    @classmethod
    def read(cls, pids):
        files = [file for pid in pids for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")]
        times = [file.read_text().split() for file in files]
        return cls(sum(int(used) for used, *_ in times) / 1e9, sum(int(waited) for _, waited, _ in times) / 1e9)

    def since(self, before):
        return Processor(self.used - before.used, self.waited - before.waited)


def memory_megabytes(pid, field="VmRSS"):
    """VmRSS, the resident size, or VmHWM, its peak; a megabyte is 1,000,000 bytes."""
    line = re.search(rf"^{field}:\s+(\d+) kB$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(line[1]) * 1024 / 1e6


@dataclasses.dataclass
class Proxy:
    """One candidate: what it is called, where it answers, and the processes whose time it costs."""

    name: str
    port: int
    pids: list


def http_load(proxy, path, connections, seconds, threads=1, cpus=LOAD_CPU):
    """Keeps `connections` busy with GET and tells what came of it. An answer other than 200 ends the benchmark."""
    before = Processor.read(proxy.pids)
    text = subprocess.run(
        [
            *pinned(cpus), "wrk", "--latency", f"-t{threads}", f"-c{connections}", f"-d{seconds}s",
            f"http://127.0.0.1:{proxy.port}{path}",
        ], capture_output=True, text=True, check=True,
    ).stdout
    cpu = Processor.read(proxy.pids).since(before)
    if trouble := re.search(r"Non-2xx.*|Socket errors.*", text):
        raise RuntimeError(f"{proxy.name}: {trouble[0]}")
    requests = int(re.search(r"(\d+) requests in", text)[1])
    percentile = {name: float(value) * UNITS[unit] for name, value, unit in re.findall(
        r"^ +(50|99)% +([\d.]+)(us|ms|s|m)$", text, re.MULTILINE)}
    return {
        "requests": requests, "requests/s": float(re.search(r"Requests/sec: +([\d.]+)", text)[1]),
        "CPU µs a request": cpu.used / requests * 1e6, "p50 µs": percentile["50"] * 1e6,
        "p99 µs": percentile["99"] * 1e6, WAITED: 100 * cpu.waited / seconds,
    }


def by_turns(proxies, rounds, measure):
    """{name: {measure: [value of each round]}}. The order is reversed in every round, so that a machine that gets
    slower or faster treats all alike. One more turn comes first and is not counted."""
    samples = {proxy.name: {} for proxy in proxies}
    for number in range(-1, rounds):
        for proxy in proxies if number % 2 else reversed(proxies):
            values = measure(proxy)
            if number >= 0:
                for key, value in values.items():
                    samples[proxy.name].setdefault(key, []).append(value)
            time.sleep(0.1)  # what the last turn left behind is closed and written
    return samples


def ratios(samples, key, numerator, denominator):
    return [a / b for a, b in zip(samples[numerator][key], samples[denominator][key])]


@dataclasses.dataclass
class Figure:
    """A headline number: its value in each round and what it should be."""

    text: str
    values: list
    at_least: float | None = None
    at_most: float | None = None
    floor: float | None = None  # what must be reached in any case, where that is less than the target

    @property
    def median(self):
        return statistics.median(self.values)

    def reaches(self, bound):
        shown = round(self.median, 2)
        return shown <= bound if self.at_least is None else shown >= bound

    @property
    def target(self):
        return self.at_most if self.at_least is None else self.at_least

    @property
    def verdict(self):
        if self.reaches(self.target):
            return "met"
        if self.floor is None:
            return "**missed**"
        return f"**missed**, floor {self.floor} " + ("kept" if self.reaches(self.floor) else "**missed**")


@dataclasses.dataclass
class Outcome:
    """What one benchmark has found."""

    title: str
    samples: dict
    figures: list
    notes: list = dataclasses.field(default_factory=list)
