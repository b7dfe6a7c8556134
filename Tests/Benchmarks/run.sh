#!/usr/bin/env bash
# Builds proofd and measures it beside nginx (Debian 12, Swift 6; as root or with sudo). README.md explains the figures.
#
#   Tests/Benchmarks/run.sh [--rounds N] [--seconds S] [--only NAME]… [--json FILE] [--readme] [--quick]
#
# With PROOFD and PROOFD_SIM in the environment those programs are measured, and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/../.."

Examples/QuickStart/install.sh libevent-dev libssl-dev libsqlite3-dev libyaml-dev zlib1g-dev pkg-config \
  nginx wrk strace curl openssl python3 >&2
if [ -z "${PROOFD:-}" ]; then
  swift build -c release --static-swift-stdlib >&2
  export PROOFD=$PWD/.build/release/proofd PROOFD_SIM=$PWD/.build/release/proofd-sim
fi
export PYTHONPATH=Tests PYTHONDONTWRITEBYTECODE=1
exec python3 Tests/Benchmarks/run.py "$@"
