#!/usr/bin/env bash
# Builds the fuzzers into .build/fuzzing: HTTPWire once, and what else is fuzzed, then each file of Targets with it.
#
#   Tests/Fuzzing/build.sh [NAME…]      all five when none is named
#
# Optimised, but with every assertion. Only what is fuzzed is instrumented for coverage: the fuzzer shall look for ways
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

# fuzzed MODULE SOURCE…
fuzzed() {
  local module=$1
  shift
  swiftc "${options[@]}" -sanitize=fuzzer,address -module-name "$module" -I "$out/objects" -emit-module \
    -emit-module-path "$out/objects/$module.swiftmodule" -c -o "$out/objects/$module.o" "$@"
}

mkdir -p "$out/objects"
fuzzed HTTPWire Sources/HTTPWire/*.swift
for name in "${names[@]}"; do
  objects=("$out/objects/$name.o" "$out/objects/HTTPWire.o")
  if [ "$name" = ChallengeClassifier ]; then
    # Of OAuth what needs no cryptography.
    fuzzed Locking Sources/Locking/*.swift
    fuzzed OAuth Sources/OAuth/DPoP/*.swift
    objects+=("$out/objects/Locking.o" "$out/objects/OAuth.o")
  fi
  swiftc "${options[@]}" -sanitize=address -module-name "Fuzz$name" -I "$out/objects" \
    -c -o "$out/objects/$name.o" "Tests/Fuzzing/Targets/$name.swift" Tests/Fuzzing/Support/*.swift
  swiftc -sanitize=fuzzer,address -use-ld=lld -o "$out/$name" "${objects[@]}"
done
