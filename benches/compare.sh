#!/usr/bin/env bash
# condenser beside DuckDB on the same conversations, CPU seconds (user + system), alternating, best of N.
# JSONL → Parquet: DuckDB copies the uncompressed JSONL to zstd Parquet; condenser reads zstd JSONL, compresses every
# conversation, proves the restore and writes zstd Parquet. Parquet → Parquet: both read the same zstd Parquet, with
# messages as a list of structs and as JSON text, and write zstd Parquet.
# Usage: benches/compare.sh FOLDER [N] [jsonl|structs|texts]…
#   FOLDER holds *.jsonl.zst; needs python3, and pip for duckdb and pyarrow (or DUCKDB_PYTHON, a python that has both)
set -euo pipefail
folder=$1; runs=${2:-5}; shift; [ $# -eq 0 ] || shift
kinds=("$@"); [ ${#kinds[@]} -gt 0 ] || kinds=(jsonl structs texts)
root=$(cd "$(dirname "$0")/.." && pwd)
condenser=${CONDENSER:-$root/target/dist/condenser}
[ -x "$condenser" ] || (cd "$root" && cargo build --locked --profile dist)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python=${DUCKDB_PYTHON:-}
if [ -z "$python" ]; then
  python3 -m venv "$work/venv"; "$work/venv/bin/pip" install -q duckdb pyarrow; python=$work/venv/bin/python
fi
for file in "$folder"/*.jsonl.zst; do zstd -dqc "$file"; done > "$work/all.jsonl"
zstd -q -3 "$work/all.jsonl" -o "$work/all.jsonl.zst"
cat > "$work/copy.py" <<'PY'
import duckdb, sys
read = {"jsonl": "read_json('{}', format = 'newline_delimited', maximum_object_size = 67108864)"}
source = read.get(sys.argv[3], "read_parquet('{}')").format(sys.argv[1])
connection = duckdb.connect()
connection.execute("SET threads = 2")
connection.execute(f"COPY (SELECT * FROM {source}) TO '{sys.argv[2]}' "
                   "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
PY
# The conversations twice, so that the tables have more than 100 MB of text, in row groups of 16 MB.
cat > "$work/tables.py" <<'PY'
import json, sys, pyarrow as pa, pyarrow.parquet as pq
text = lambda value: value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
call = pa.struct([("id", pa.string()), ("type", pa.string()),
                  ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())]))])
message = pa.struct([(name, pa.string()) for name in ("role", "content", "name", "tool_call_id")]
                    + [("tool_calls", pa.list_(call))])
schemas = {"structs": pa.schema([("id", pa.string()), ("messages", pa.list_(message))]),
           "texts": pa.schema([("id", pa.string()), ("messages", pa.string())])}
writers = {kind: pq.ParquetWriter(f"{sys.argv[2]}/{kind}.parquet", schema, compression="zstd")
           for kind, schema in schemas.items()}
rows, size, n = {kind: [] for kind in schemas}, 0, 0
def flush():
    for kind, writer in writers.items():
        writer.write_table(pa.Table.from_pylist(rows[kind], schema=schemas[kind])); rows[kind].clear()
def calls_of(calls):
    one = lambda call: {"id": text(call.get("id")), "type": text(call.get("type")), "function":
                        {key: text((call.get("function") or {}).get(key)) for key in ("name", "arguments")}}
    return [one(call) for call in calls] if isinstance(calls, list) else None
for _ in range(2):
    for line in open(sys.argv[1]):
        record = json.loads(line)
        messages = record.get("messages") or record.get("conversations") or []
        messages = [{"role": m.get("role") or m.get("from"), "content": text(m.get("content", m.get("value"))),
                     "name": text(m.get("name")), "tool_call_id": text(m.get("tool_call_id")),
                     "tool_calls": calls_of(m.get("tool_calls"))} for m in messages]
        n += 1; size += len(line)
        rows["structs"].append({"id": f"c{n}", "messages": messages})
        slim = [{key: value for key, value in m.items() if value is not None} for m in messages]
        rows["texts"].append({"id": f"c{n}", "messages": json.dumps(slim, ensure_ascii=False)})
        if size > 16 << 20: flush(); size = 0
flush()
for writer in writers.values(): writer.close()
PY
case " ${kinds[*]} " in *" structs "* | *" texts "*) "$python" "$work/tables.py" "$work/all.jsonl" "$work" ;; esac
cpu() { # CPU seconds of a command
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null; } 2>&1 | awk 'END { print $1 + $2 }'
}
bytes=$(stat -c %s "$work/all.jsonl")
for kind in "${kinds[@]}"; do
  case $kind in
    jsonl) theirs=$work/all.jsonl; ours=$work/all.jsonl.zst; size=$bytes ;;
    *) theirs=$work/$kind.parquet; ours=$theirs; size=$((bytes * 2)) ;;
  esac
  for flags in "" "--recency-window 0 --fuzzy-dedup"; do
    best_d=999; best_c=999
    for _ in $(seq "$runs"); do
      d=$(cpu "$python" "$work/copy.py" "$theirs" "$work/copy.parquet" "$kind")
      rm -rf "$work/run"
      # shellcheck disable=SC2086
      c=$(cpu "$condenser" compress "$ours" -o "$work/run" --quiet $flags)
      best_d=$(awk -v a="$d" -v b="$best_d" 'BEGIN { print (a < b) ? a : b }')
      best_c=$(awk -v a="$c" -v b="$best_c" 'BEGIN { print (a < b) ? a : b }')
    done
    awk -v k="$kind" -v b="$size" -v d="$best_d" -v c="$best_c" -v f="${flags:-default options}" 'BEGIN {
      printf "%s, %s: %.1f MB; DuckDB %.2f s CPU, condenser %.2f s CPU, ratio %.2f\n", k, f, b / 1e6, d, c, c / d }'
  done
done
