#!/usr/bin/env bash
# Installs those of the named Debian packages that are missing. None of their services is started.
set -euo pipefail

installed() { dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

command -v dpkg-query >/dev/null || { echo "Not a Debian system; you need what these packages hold: $*" >&2; exit 1; }
missing=()
for package in "$@"; do installed "$package" || missing+=("$package"); done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "As root, please: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
policy=/usr/sbin/policy-rc.d # what asks whether a service may be started; 101 is no
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
"${as_root[@]}" apt-get -q update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-confold install "${missing[@]}"
