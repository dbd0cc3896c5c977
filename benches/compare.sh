#!/usr/bin/env bash
# condenser beside DuckDB on the same conversations, CPU seconds (user + system), alternating, best of N.
# DuckDB copies the uncompressed JSONL to zstd Parquet; condenser reads zstd JSONL, compresses every conversation,
# proves the restore and writes zstd Parquet.
# Usage: benches/compare.sh FOLDER [N]     (FOLDER holds *.jsonl.zst; needs python3 and pip for duckdb)
set -euo pipefail
folder=$1; runs=${2:-5}
root=$(cd "$(dirname "$0")/.." && pwd)
condenser=${CONDENSER:-$root/target/dist/condenser}
[ -x "$condenser" ] || (cd "$root" && cargo build --locked --profile dist)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python=${DUCKDB_PYTHON:-}
if [ -z "$python" ]; then python3 -m venv "$work/venv"; "$work/venv/bin/pip" install -q duckdb; python=$work/venv/bin/python; fi
for file in "$folder"/*.jsonl.zst; do zstd -dqc "$file"; done > "$work/all.jsonl"
zstd -q -3 "$work/all.jsonl" -o "$work/all.jsonl.zst"
cat > "$work/copy.py" <<'PY'
import duckdb, sys
connection = duckdb.connect()
connection.execute("SET threads = 2")
connection.execute(f"COPY (SELECT * FROM read_json('{sys.argv[1]}', format = 'newline_delimited', maximum_object_size = 67108864)) "
                   f"TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
PY
cpu() { # CPU seconds of a command
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null; } 2>&1 | awk 'END { print $1 + $2 }'
}
bytes=$(stat -c %s "$work/all.jsonl")
for flags in "" "--recency-window 0 --fuzzy-dedup"; do
  best_d=999; best_c=999
  for _ in $(seq "$runs"); do
    d=$(cpu "$python" "$work/copy.py" "$work/all.jsonl" "$work/copy.parquet")
    rm -rf "$work/run"
    # shellcheck disable=SC2086
    c=$(cpu "$condenser" compress "$work/all.jsonl.zst" -o "$work/run" --quiet $flags)
    best_d=$(awk -v a="$d" -v b="$best_d" 'BEGIN { print (a < b) ? a : b }')
    best_c=$(awk -v a="$c" -v b="$best_c" 'BEGIN { print (a < b) ? a : b }')
  done
  awk -v b="$bytes" -v d="$best_d" -v c="$best_c" -v f="${flags:-default options}" 'BEGIN {
    printf "%s: %.1f MB; DuckDB %.2f s CPU, condenser %.2f s CPU, ratio %.2f\n", f, b / 1e6, d, c, c / d }'
done
