#!/usr/bin/env bash
# Installs what the tests need (Debian 12, Swift 6; as root or with sudo) and runs them all.
#
#   Tests/run.sh [--long]    --long adds all tests under both sanitizers (without it: the thread sanitizer, and the address
#                            sanitizer in the fuzzers), the soak, the full counts and the benchmarks, and fuzzes longer
#
# Output is short when all is well; a step that fails prints all it said, and later steps still run. Logs stay in
# .build/test-logs. The last line is the sum, "N passed, N failed", and the exit code is 1 if anything failed.
set -euo pipefail
cd "$(dirname "$0")/.."

long=false fuzz_seconds=10 sanitizers=(thread)
case "${1:-}" in
  "") ;;
  --long) long=true fuzz_seconds=600 sanitizers=(address thread) ;;
  *) echo "usage: Tests/run.sh [--long]" >&2; exit 2 ;;
esac

readonly debug=.build/ci-debug logs=.build/test-logs venv=.build/venv
readonly -a library_packages=(libevent-dev libssl-dev libsqlite3-dev libyaml-dev zlib1g-dev pkg-config curl)
readonly -a test_packages=(apache2 libapache2-mod-oauth2 glewlwyd sqlite3 openssl python3-venv valgrind nginx wrk strace gcc libc6-dev)
passed=0 failed=0 skipped=0 steps=0

# step NAME COMMAND…: runs it with its output in a log, counts what it tested and shows how it went.
step() {
  local name=$1 began=$SECONDS status log
  shift
  steps=$((steps + 1))
  log=$(printf '%s/%02d.log' "$logs" "$steps")
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  count "$log" "$status"
  if [ "$status" -eq 0 ]; then
    printf 'ok    %4d s  %s\n' $((SECONDS - began)) "$name"
    sed -n 's/^[.sFE]*result: /               /p' "$log"
  else
    printf 'FAIL  %4d s  %s (exit code %d, %s)\n' $((SECONDS - began)) "$name" "$status" "$log"
    sed 's/^/      | /' "$log"
  fi
}

# count LOG STATUS: adds the tests the log speaks of; a log that speaks of none is one check.
count() {
  local log=$1 status=$2 total bad=0 skips=0
  total=$(sed -nE 's/^[^ ]* Test run with ([0-9]+) tests? .*/\1/p; s/^Ran ([0-9]+) tests? in .*/\1/p' "$log" | tail -n 1)
  bad=$(grep -cE '^✘ Test ("|[^ ]+\().* failed after ' "$log" || true)
  bad=$((bad + $(sum 's/^FAILED \(.*failures=([0-9]+).*/\1/p' "$log") + $(sum 's/^FAILED \(.*errors=([0-9]+).*/\1/p' "$log")))
  skips=$(sum 's/^(OK|FAILED) \(.*skipped=([0-9]+).*/\2/p' "$log")
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1 total=$((${total:-0} + 1)); fi
  total=$(( ${total:-1} > bad + skips ? ${total:-1} : bad + skips )) # one test may fail several times over
  passed=$((passed + total - bad - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
}

sum() { sed -nE "$1" "$2" | awk '{ s += $1 } END { print s + 0 }'; }

make_venv() {
  local stamp
  stamp=$(cat Tests/requirements.txt <(python3 --version) | sha256sum)
  [ "$(cat $venv/stamp 2>/dev/null)" = "$stamp" ] && return
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" --quiet --disable-pip-version-check install --requirement Tests/requirements.txt
  echo "$stamp" >"$venv/stamp"
}

clean_debug_build() {
  rm -rf "$debug"
  swift build --scratch-path "$debug" --build-tests
}

swift_tests() { swift test --scratch-path "$debug" --skip-build --disable-xctest "$@"; }

verify_proofs() {
  PROOFD_PROOFS_OUT=$PWD/$logs/proofs.jsonl swift_tests --filter ProofInteropTests
  "$venv/bin/python" Tests/Interop/verify_proofs.py --expect 10000 <"$logs/proofs.jsonl"
}

driver() { PYTHONPATH=Tests "$venv/bin/python" "$1"; }

# begin SCRIPT, finish SCRIPT: a driver that runs beside others, and its end.
begin() {
  local place=$logs/${1##*/}
  { local status=0; driver "$1" >"$place.log" 2>&1 </dev/null || status=$?; echo "$status" >"$place.status"; } &
}

finish() {
  local place=$logs/${1##*/}
  until [ -s "$place.status" ]; do sleep 0.2; done
  cat "$place.log"
  return "$(cat "$place.status")"
}

# sanitized address|thread COMMAND…: runs it so that a report ends the process that made it. Reports go to files: so none is
# lost with the output of a process nobody reads. A trap is no report: Swift ends with it what breaks a precondition, and
# there are tests that want to see that.
sanitized() {
  local SANITIZER=$1 reports=$PWD/$logs/$1-reports status=0 options
  export SANITIZER
  options=exitcode=66:halt_on_error=1:handle_sigill=0:handle_sigtrap=0:log_path=$reports/report
  shift
  mkdir -p "$reports"
  ASAN_OPTIONS=$options:detect_leaks=1 TSAN_OPTIONS=$options \
    LSAN_OPTIONS=suppressions=$PWD/Tests/leaks.txt:print_suppressions=0 "$@" || status=$?
  cat "$reports"/* 2>/dev/null || return "$status"
  mv "$reports" "$reports-$steps" # the next step starts without
  return 1
}

benchmarks() { Tests/Benchmarks/run.sh | sed 's/^/result: /'; }

rm -rf "$logs"
mkdir -p "$logs"
export PYTHONDONTWRITEBYTECODE=1

step "packages" Examples/QuickStart/install.sh "${library_packages[@]}" "${test_packages[@]}"
step "Python environment" make_venv
step "clean debug build, warnings are errors" clean_debug_build
step "swift format lint" swift format lint --strict --recursive Sources Tests Package.swift
# What waits for tasks runs apart from what computes for long: both share as many threads as there are processors.
readonly waiting="DaemonTests|ConsoleTests|CommandsTests|CredentialsTests"
step "swift test, but what waits" swift_tests --skip "$waiting"
step "swift test $waiting" swift_tests --filter "$waiting"
step "secrets_scan.py --self-test" "$venv/bin/python" Tests/secrets_scan.py --self-test
step "Interop/check_schema.py" driver Tests/Interop/check_schema.py
step "10,000 proofs, verified by others" verify_proofs
step "Fuzzing/run.sh, $fuzz_seconds s each" Tests/Fuzzing/run.sh --seconds "$fuzz_seconds"
step "release build" swift build -c release --static-swift-stdlib
PROOFD=$PWD/.build/release/proofd PROOFD_SIM=$PWD/.build/release/proofd-sim
export PROOFD PROOFD_SIM
# The servers that log people in mostly wait, for tokens to end: one waits beside the other.
readonly -a logins=(Tests/Interop/test_{authgent,canaille,django_toolkit,glewlwyd_login,nanoidp}.py)
for script in "${logins[@]}"; do begin "$script"; done
for script in "${logins[@]}"; do step "${script#Tests/}, side by side" finish "$script"; done
for script in Tests/Interop/test_*.py Tests/EndToEnd/test_*.py; do
  [[ " ${logins[*]} " == *" $script "* ]] || step "${script#Tests/}" driver "$script"
done
step "Benchmarks/instructions.py" driver Tests/Benchmarks/instructions.py
step "Examples/QuickStart/run.sh --once" Examples/QuickStart/run.sh --once
for sanitizer in "${sanitizers[@]}"; do
  build=.build/ci-$sanitizer
  step "build, $sanitizer sanitizer" swift build --scratch-path "$build" --sanitize "$sanitizer" --build-tests
  apart=$waiting
  [ "$sanitizer" = address ] || apart+="|HTTPWireTests" # pure values: no thread meets another there
  parts=("--skip $apart" "--filter ConsoleTests|CommandsTests|CredentialsTests")
  # The daemon's tests have limits in time: so slow, they get the processors to themselves.
  if $long; then parts+=("--filter DaemonTests --no-parallel"); fi
  for part in "${parts[@]}"; do
    # shellcheck disable=SC2086  # two words and more
    step "swift test $part, $sanitizer sanitizer" sanitized "$sanitizer" \
      swift test --scratch-path "$build" --sanitize "$sanitizer" --skip-build --disable-xctest $part
  done
  scripts=(Tests/EndToEnd/test_mixed_traffic.py)
  if $long; then scripts=(Tests/Interop/test_*.py Tests/EndToEnd/test_*.py); fi
  for script in "${scripts[@]}"; do
    PROOFD=$PWD/$build/debug/proofd PROOFD_SIM=$PWD/$build/debug/proofd-sim \
      step "${script#Tests/}, $sanitizer sanitizer" sanitized "$sanitizer" driver "$script"
  done
done
if $long; then
  for script in Tests/Interop/long_*.py Tests/EndToEnd/long_*.py; do step "${script#Tests/}" driver "$script"; done
  step "Benchmarks/run.sh" benchmarks
fi

echo "$SECONDS s in all"
closing="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || closing+=", $skipped skipped"
echo "$closing"
[ "$failed" -eq 0 ]
