#!/usr/bin/env bash
# Builds proofd, starts it in front of a sample API that wants DPoP proofs with nonces, and sends one request with curl.
#
#   Examples/QuickStart/run.sh           leaves everything running until Ctrl-C
#   Examples/QuickStart/run.sh --once    ends after the request
set -euo pipefail
cd "$(dirname "$0")/../.."

case "${1:-}" in
  "" | --once) ;;
  *) echo "usage: Examples/QuickStart/run.sh [--once]" >&2; exit 2 ;;
esac

Examples/QuickStart/install.sh libevent-dev libssl-dev libsqlite3-dev libyaml-dev zlib1g-dev pkg-config curl

directory=$(mktemp -d)
pids=()
clean_up() {
  kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$directory"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

echo "Building (some minutes the first time)"
if ! swift build -c release --static-swift-stdlib >"$directory/build" 2>&1; then
  cat "$directory/build" >&2
  exit 1
fi

# start NAME LINE COMMAND…: in the background; waits until its output holds LINE.
start() {
  local name=$1 line=$2 output=$directory/$1.out
  shift 2
  "$@" >"$output" 2>&1 &
  pids+=($!)
  for _ in {1..100}; do
    ! grep -q "$line" "$output" || return 0
    kill -0 $! 2>/dev/null || break
    sleep 0.1
  done
  echo "$name did not start:" >&2
  cat "$output" >&2
  exit 1
}

export XDG_RUNTIME_DIR=$directory XDG_STATE_HOME=$directory SAMPLE_SECRET=quick-start-secret
bin=.build/release
start proofd-sim "ready" "$bin/proofd-sim" --as-port 9480 --api-port 9481 --nonce rotate --client "svc:$SAMPLE_SECRET"
start proofd "9449" "$bin/proofd" serve --config Examples/QuickStart/proofd.yaml

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
recent() { "$bin/proofd" tail --no-follow -n 3; }

url='http://127.0.0.1:9449/orders/17?status=open&api_key=mine'
say "\$ curl '$url'"
curl --silent --show-error --fail --noproxy '*' "$url"
say "\$ proofd tail -n 3"
for _ in {1..50}; do
  ! recent | grep -q /orders/17 || break
  sleep 0.1
done
recent

[ "${1:-}" != --once ] || exit 0
say "Running until Ctrl-C. In another terminal:"
echo "  curl -d hello http://127.0.0.1:9449/orders"
echo "  XDG_RUNTIME_DIR=$directory $bin/proofd tail"
wait
