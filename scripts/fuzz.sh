#!/usr/bin/env bash
# Fuzzes every target of `fuzz/` from its seeds, one after the other, in one process each. Prints a line per target: seconds,
# executions, coverage at the beginning and at the end, findings; exit code 1 when there is a finding.
# Usage: scripts/fuzz.sh [SECONDS] [TARGET…]      (60 seconds and all targets without arguments)
# Needs a nightly Rust toolchain, a C++ compiler and `cargo install cargo-fuzz --locked`.
# What was found lies in fuzz/artifacts/TARGET, what was tried in fuzz/target/corpus/TARGET, the logs in fuzz/target/logs.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^path = "targets\/\(.*\)\.rs"$/\1/p' Cargo.toml)

# No code of ours is unsafe, so that there is little to be found by a sanitizer, which takes half the speed.
for target in "${targets[@]}"; do
  cargo +nightly fuzz build --fuzz-dir . --sanitizer none "$target"
done
programs=$(echo target/*/release)
TMPDIR=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)/condenser-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

found=0
for target in "${targets[@]}"; do
  mkdir -p "target/corpus/$target" "artifacts/$target" target/logs
  log=target/logs/$target.log
  words=()
  for name in "$target" json; do
    if [ -f "dictionaries/$name.dict" ]; then words=("-dict=dictionaries/$name.dict"); break; fi
  done
  before=$(find "artifacts/$target" -type f | wc -l)
  "$programs/$target" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -max_len=8192 "${words[@]}" -artifact_prefix="artifacts/$target/" \
    "target/corpus/$target" "corpus/$target" > "$log" 2>&1 || true
  after=$(find "artifacts/$target" -type f | wc -l)
  first=$(grep -m1 -oE 'cov: [0-9]+' "$log" | cut -d' ' -f2 || true)
  read -r executions last time < <(
    sed -nE 's/^#([0-9]+): cov: ([0-9]+) .* time: ([0-9]+)s .*/\1 \2 \3/p' "$log" | tail -1
  ) || true
  echo "$target: ${time:-0} s, ${executions:-0} executions, coverage ${first:-0} to ${last:-0}, $((after - before)) findings"
  [ "$after" = "$before" ] || found=1
done
exit $found
