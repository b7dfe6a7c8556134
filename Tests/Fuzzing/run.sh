#!/usr/bin/env bash
# Builds the fuzzers and runs each for a while, two at a time, from the committed corpus.
#
#   Tests/Fuzzing/run.sh [--seconds N] [NAME…]      30 seconds each, all five when none is named
#
# The last line of each is "result: NAME N runs, no finding", or what was found and how to see it again; the exit code
# is 1 if anything was. Inputs that reach new code stay in .build/fuzzing/corpus, findings in .build/fuzzing/findings.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly here=Tests/Fuzzing out=.build/fuzzing
readonly at_once=2 input_bytes_max=1200 input_seconds_max=10 memory_megabytes_max=1024
seconds=30
names=()
usage() { echo "usage: Tests/Fuzzing/run.sh [--seconds N] [NAME…]" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage; seconds=$2; shift 2 ;;
    -*) usage ;;
    *) [ -f "$here/Targets/$1.swift" ] || usage; names+=("$1"); shift ;;
  esac
done
if [ ${#names[@]} -eq 0 ]; then
  for file in "$here"/Targets/*.swift; do names+=("$(basename "$file" .swift)"); done
fi

dictionary() {
  case $1 in
    RequestHead | ResponseHead) echo "$here/Dictionaries/Head.dict" ;;
    *) echo "$here/Dictionaries/$1.dict" ;;
  esac
}

# fuzz NAME: its output goes to a log, its exit code is libFuzzer's.
fuzz() {
  local name=$1
  rm -rf "$out/findings/$name"
  mkdir -p "$out/corpus/$name" "$out/findings/$name"
  local corpora=("$out/corpus/$name" "$here/Corpus/$name")
  # It reads the same lines, and a body behind them.
  if [ "$name" = ChallengeClassifier ]; then corpora+=("$here/Corpus/Challenge"); fi
  # The sanitizer's books are kept short, for speed: a finding that is run again by itself has them in full.
  export ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16
  # Not the leak sanitizer: the metadata that the Swift runtime makes at run time counts as leaked.
  exec "$out/$name" -max_total_time="$seconds" -max_len=$input_bytes_max -timeout=$input_seconds_max \
    -rss_limit_mb=$memory_megabytes_max -detect_leaks=0 -print_final_stats=1 -dict="$(dictionary "$name")" \
    -artifact_prefix="$out/findings/$name/" "${corpora[@]}" >"$out/$name.log" 2>&1
}

# report NAME STATUS: the closing line; false if something was found.
report() {
  local name=$1 status=$2 runs finding
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
  if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
    echo "result: $name $runs runs, no finding"
    return
  fi
  tail -n 200 "$out/$name.log"
  for finding in "$out/findings/$name"/*; do
    [ -f "$finding" ] || continue
    printf '%s:\n' "$finding"
    od -A d -t x1z "$finding"
    echo "again: $out/$name $finding"
  done
  echo "result: $name failed with exit code $status, $(find "$out/findings/$name" -type f | wc -l) inputs in $out/findings/$name"
  return 1
}

"$here/build.sh" "${names[@]}"

# What a finding's stack is named with.
symbolizer=$(dirname "$(readlink -f "$(command -v swiftc)")")/llvm-symbolizer
if [ -x "$symbolizer" ]; then export ASAN_SYMBOLIZER_PATH=$symbolizer; fi

declare -A process=()
trap '[ ${#process[@]} -eq 0 ] || kill "${process[@]}" 2>/dev/null || true' EXIT
for name in "${names[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge $at_once ]; do wait -n || true; done
  fuzz "$name" &
  process[$name]=$!
done
failed=0
for name in "${names[@]}"; do
  status=0
  wait "${process[$name]}" || status=$?
  unset "process[$name]"
  report "$name" "$status" || failed=1
done
exit $failed
