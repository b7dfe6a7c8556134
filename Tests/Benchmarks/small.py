"""Small GETs: many connections, one connection, two loops, TLS upstream."""

from measure import ALL_CPUS, Figure, Outcome, by_turns, http_load, ratios
from servers import Gateways, Origin, rival

PATH = "/api/orders/17?status=open"


def compared(samples, ours="proofd Bearer", theirs="nginx"):
    """The ratios every comparison shows; above 1 proofd is the better one."""
    return [
        Figure(f"CPU a request, {theirs} ÷ {ours}", ratios(samples, "CPU µs a request", theirs, ours)),
        Figure(f"requests/s, {ours} ÷ {theirs}", ratios(samples, "requests/s", ours, theirs)),
        Figure(f"p50, {ours} ÷ {theirs}", ratios(samples, "p50 µs", ours, theirs)),
        Figure(f"p99, {ours} ÷ {theirs}", ratios(samples, "p99 µs", ours, theirs)),
    ]


def small(bench, options):
    origin, gateways = Origin(bench), Gateways(bench)
    proxies = [
        rival(bench, origin.port), gateways.bearer(origin.url), gateways.dpop(origin.url), gateways.bare(origin.url)]
    samples = by_turns(proxies, options.rounds, lambda proxy: http_load(proxy, PATH, 64, options.seconds))
    figures = compared(samples)
    figures[0].at_least, figures[0].floor = 1.40, 1.25
    figures[1].at_least, figures[1].floor = 1.25, 1.15
    signed = Figure("requests/s, proofd DPoP ÷ unsigned nginx", ratios(samples, "requests/s", "proofd DPoP", "nginx"))
    signed.at_least, signed.floor = 0.60, 0.55
    own = Figure(
        "requests/s, proofd DPoP ÷ proofd Bearer", ratios(samples, "requests/s", "proofd DPoP", "proofd Bearer"))
    bare = Figure(
        "CPU a request, proofd Bearer ÷ proofd without credential",
        ratios(samples, "CPU µs a request", "proofd Bearer", "proofd, no credential"))
    return Outcome("small GET, 64 connections, 1 loop", samples, [*figures, signed, own, bare])


def one_connection(bench, options):
    origin, gateways = Origin(bench), Gateways(bench)
    proxies = [rival(bench, origin.port), gateways.bearer(origin.url), gateways.dpop(origin.url)]
    samples = by_turns(proxies, options.rounds, lambda proxy: http_load(proxy, PATH, 1, options.seconds))
    figures = compared(samples)
    figures[2].at_most = 0.90
    return Outcome("small GET, 1 connection", samples, figures)


def two_loops(bench, options):
    """Everything on two processors."""
    origin, gateways = Origin(bench), Gateways(bench)
    proxies = [
        rival(bench, origin.port, cpus=ALL_CPUS, workers=2), gateways.bearer(origin.url, cpus=ALL_CPUS, threads=2)]
    samples = by_turns(
        proxies, options.rounds,
        lambda proxy: http_load(proxy, PATH, 64, options.seconds, threads=2, cpus=ALL_CPUS))
    figures = compared(samples)
    figures[1].at_least = 1.30
    return Outcome("small GET, 64 connections, 2 loops", samples, figures)


def tls(bench, options):
    origin, gateways = Origin(bench), Gateways(bench)
    proxies = [
        rival(bench, origin.tls_port, tls=True), gateways.bearer(origin.tls_url, route=origin.trusted)]

    def measure(proxy):
        accepted = origin.connections_accepted()
        values = http_load(proxy, PATH, 64, options.seconds)
        return values | {"TLS handshakes": origin.connections_accepted() - accepted - 1}

    samples = by_turns(proxies, options.rounds, measure)
    notes = [
        f"{name}, p99 ms after so many TLS handshakes in a turn: " + ", ".join(
            f"{p99 / 1e3:.1f} after {handshakes}"
            for handshakes, p99 in sorted(zip(measures["TLS handshakes"], measures["p99 µs"])))
        for name, measures in samples.items()
    ]
    return Outcome("small GET, 64 connections, https upstream", samples, compared(samples), notes)


def handshakes(bench, options):
    origin, gateways = Origin(bench), Gateways(bench)
    proxies = [
        rival(bench, origin.closing_port, tls=True), gateways.bearer(origin.closing_url, route=origin.trusted)]
    samples = by_turns(proxies, options.rounds, lambda proxy: http_load(proxy, PATH, 16, options.seconds))
    title = "small GET, 16 connections, https upstream that closes after each answer"
    return Outcome(title, samples, compared(samples))
