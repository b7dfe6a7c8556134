#!/usr/bin/env bash
# Builds the fuzzers into .build/fuzzing: HTTPWire once, then each file of Targets with it.
#
#   Tests/Fuzzing/build.sh [NAME…]      all four when none is named
#
# Optimised, but with every assertion. Only HTTPWire is instrumented for coverage: the fuzzer shall look for ways
# through the parsers, not through what they are checked with.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly out=.build/fuzzing
readonly -a options=(
  -O -assert-config Debug -g -wmo -parse-as-library -swift-version 6 -warnings-as-errors
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault -package-name proofd
)
names=("$@")
if [ $# -eq 0 ]; then
  for file in Tests/Fuzzing/Targets/*.swift; do names+=("$(basename "$file" .swift)"); done
fi

mkdir -p "$out/objects"
swiftc "${options[@]}" -sanitize=fuzzer,address -module-name HTTPWire -emit-module \
  -emit-module-path "$out/objects/HTTPWire.swiftmodule" -c -o "$out/objects/HTTPWire.o" Sources/HTTPWire/*.swift
for name in "${names[@]}"; do
  swiftc "${options[@]}" -sanitize=address -module-name "Fuzz$name" -I "$out/objects" \
    -c -o "$out/objects/$name.o" "Tests/Fuzzing/Targets/$name.swift" Tests/Fuzzing/Support/*.swift
  swiftc -sanitize=fuzzer,address -use-ld=lld -o "$out/$name" "$out/objects/$name.o" "$out/objects/HTTPWire.o"
done
