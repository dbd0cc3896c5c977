#!/usr/bin/env bash
# Resident memory while generated corpora are compressed under a budget. One sample per second goes to
# target/memory/KIND.csv; printed are the peak, the mean of each tenth of the run, time and speed.
# Usage: scripts/memory.sh [KIND…] [-- FLAGS…]     (all kinds without arguments; FLAGS go to condenser)
#   lines        plain JSONL, 1 GB under GB names, cut into splits
#   stream       the same bytes GB times through a pipe
#   table        one Parquet file, messages as a list of structs
#   texts        one Parquet file, messages as JSON text
#   giant        JSONL with one conversation of GIANT bytes in many messages among small ones
#   monolith     JSONL with one message of GIANT bytes
#   giant-table  Parquet with one conversation of GIANT bytes
# Environment: GB=10  GIANT=1500000000  MEMORY=512MiB  WORK=folder for generated files  CONDENSER, GENERATE=programs
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gb=${GB:-10}; giant=${GIANT:-1500000000}; memory=${MEMORY:-512MiB}
condenser=${CONDENSER:-$root/target/release/condenser}
generate=${GENERATE:-$root/target/release/generate}
[ -x "$condenser" ] || (cd "$root" && cargo build --locked --release)
[ -x "$generate" ] || (cd "$root" && cargo build --locked --release -p condenser-benches --bin generate)
kinds=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do kinds+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#kinds[@]} -gt 0 ] || kinds=(lines stream table texts giant monolith giant-table)
work=$(mktemp -d "${WORK:-/tmp}/condenser-memory.XXXXXX"); trap 'rm -rf "$work"' EXIT
out=$root/target/memory; mkdir -p "$out"

# Runs condenser with the remaining arguments; NAME and BYTES of uncompressed input are for the report.
measure() { # NAME BYTES INPUT
  local name=$1 bytes=$2 input=$3; shift 3
  rm -rf "$work/run"
  echo "seconds,rss_kb,peak_kb" > "$out/$name.csv"
  /usr/bin/time -o "$work/time" -f "%e %U %S %M" \
    "$condenser" compress "$input" -o "$work/run" --quiet --memory "$memory" --max-record-bytes 2GiB "$@" < "${STREAM:-/dev/null}" &
  local timer=$! pid='' start=$SECONDS
  while [ -z "$pid" ] && kill -0 "$timer" 2>/dev/null; do pid=$(pgrep -P "$timer" || true); done
  while kill -0 "$timer" 2>/dev/null; do
    awk -v s="$((SECONDS - start))" '/^VmHWM/ { peak = $2 } /^VmRSS/ { rss = $2 } END { if (rss) print s "," rss "," peak }' \
      "/proc/$pid/status" >> "$out/$name.csv" 2>/dev/null || true
    sleep 1
  done
  local rc=0; wait "$timer" || rc=$?
  local clean; clean=$(tail -1 "$work/time")
  awk -F, -v name="$name" -v bytes="$bytes" -v clean="$clean" -v rc="$rc" '
    NR > 1 { rss[++n] = $2 / 1024 }
    END {
      split(clean, t, " ")
      printf "%s: peak %.0f MiB (%.0f MB), exit %d, %.2f GB in %.0f s wall, %.0f s CPU, %.0f MB/s; MiB per tenth:", \
        name, t[4] / 1024, t[4] * 1.024 / 1000, rc, bytes / 1e9, t[1], t[2] + t[3], bytes / 1e6 / t[1]
      for (k = 0; k < 10; k++) {
        sum = 0; count = 0
        for (i = int(n * k / 10) + 1; i <= n * (k + 1) / 10; i++) { sum += rss[i]; count++ }
        if (count) printf " %.0f", sum / count
      }
      print ""
    }' "$out/$name.csv"
  rm -rf "$work/run"
}

lines() { [ -f "$work/lines.jsonl" ] || "$generate" lines 1000000000 > "$work/lines.jsonl"; }

for kind in "${kinds[@]}"; do
  case $kind in
    lines)
      lines; mkdir -p "$work/lines"
      for n in $(seq "$gb"); do ln -f "$work/lines.jsonl" "$work/lines/$n.jsonl"; done
      measure lines $((gb * $(stat -c %s "$work/lines.jsonl"))) "$work/lines" "$@"
      rm -rf "$work/lines" ;;
    stream)
      lines; mkfifo "$work/pipe"
      for _ in $(seq "$gb"); do cat "$work/lines.jsonl"; done > "$work/pipe" &
      STREAM=$work/pipe measure stream $((gb * $(stat -c %s "$work/lines.jsonl"))) - "$@"
      rm "$work/pipe" ;;
    table | texts)
      rm -f "$work/lines.jsonl"
      "$generate" "$kind" $((gb * 1000000000)) > "$work/table.parquet"
      measure "$kind" $((gb * 1000000000)) "$work/table.parquet" "$@"
      rm "$work/table.parquet" ;;
    giant | monolith)
      "$generate" "$kind" "$giant" > "$work/giant.jsonl"
      measure "$kind" "$(stat -c %s "$work/giant.jsonl")" "$work/giant.jsonl" "$@"
      rm "$work/giant.jsonl" ;;
    giant-table)
      "$generate" giant-table "$giant" > "$work/giant.parquet"
      measure giant-table $((giant + 420000000)) "$work/giant.parquet" "$@"
      rm "$work/giant.parquet" ;;
    *) echo "scripts/memory.sh: unknown kind $kind" >&2; exit 2 ;;
  esac
done
