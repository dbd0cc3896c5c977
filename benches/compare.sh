#!/usr/bin/env bash
# condenser beside DuckDB on the same conversations, CPU seconds (user + system), one thread each, alternating, best of N, zstd
# level 1 on both sides, the start of each program subtracted.
# JSONL → Parquet, for each of three inputs: DuckDB copies the plain JSONL, with messages as a JSON column and as structs that
# it infers; condenser reads the same file, compresses every conversation, proves the restore and writes Parquet.
# Parquet → Parquet: both read the same Parquet, with messages as a list of structs and as JSON text.
# Usage: benches/compare.sh FOLDER [N] [agents|prose|chats|structs|texts]…
#   FOLDER holds *.jsonl.zst; needs python3, and pip for duckdb and pyarrow (or DUCKDB_PYTHON, a python that has both)
# Environment: CONDENSER=program (target/release/condenser)  MB=105 of each input  FLAGS="--recency-window 0"
set -euo pipefail; shopt -s inherit_errexit
folder=$1; runs=${2:-5}; shift; [ $# -eq 0 ] || shift
kinds=("$@"); [ ${#kinds[@]} -gt 0 ] || kinds=(agents prose chats structs texts)
root=$(cd "$(dirname "$0")/.." && pwd)
condenser=${CONDENSER:-$root/target/release/condenser}
[ -x "$condenser" ] || (cd "$root" && cargo build --locked --release)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python=${DUCKDB_PYTHON:-}
if [ -z "$python" ]; then
  python3 -m venv "$work/venv"; "$work/venv/bin/pip" install -q duckdb pyarrow; python=$work/venv/bin/python
fi
read -r -a flags <<< "${FLAGS:---recency-window 0}"
# Inputs: which corpora of the folder, those that are there, again and again until there are enough bytes.
of_agents="cc_entire_cli cc_gitsync codex_gitsync openhands_swebench pi_sessions sweagent_demos tau_dev"
of_prose="bundestag_dev mtbench_arena qmsum_academic_product sharegpt_tools topicalchat cc_gitsync openhands_swebench tau_dev"
of_chats="kdconv realpersonachat_dev topicalchat sgd ubuntu_irc mtbench_arena"
cat > "$work/input.py" <<'PY'
import json, subprocess, sys
out, n_bytes, files = sys.argv[1], int(sys.argv[2]) * 1000000, sys.argv[3:]
role = {"human": "user", "gpt": "assistant"}
def message(m):
    if "from" not in m: return m
    return {"role": role.get(m["from"], m["from"]), "content": m.get("value", "")}
lines = []
for name in files:
    for line in subprocess.run(["zstd", "-dqc", name], stdout=subprocess.PIPE, check=True).stdout.splitlines():
        record = json.loads(line)
        lines.append([message(m) for m in record.get("messages") or record.get("conversations") or []])
n = size = 0
with open(out, "w") as file:
    while size < n_bytes:
        for messages in lines:
            n += 1
            size += file.write(json.dumps({"id": f"c{n}", "messages": messages}, ensure_ascii=False) + "\n")
PY
cat > "$work/copy.py" <<'PY'
import sys
import duckdb
kind, source, target = sys.argv[1:4]
connection = duckdb.connect()
connection.execute("SET threads = 1")
json = "read_json('{}', format = 'newline_delimited', maximum_object_size = 67108864{})"
columns = ", columns = {'id': 'VARCHAR', 'messages': 'JSON'}"
reads = {"json": json.format(source, columns), "inferred": json.format(source, ""), "table": f"read_parquet('{source}')"}
if kind != "start":
    connection.execute(f"COPY (SELECT * FROM {reads[kind]}) TO '{target}' "
                       "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
PY
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
rows, size = {kind: [] for kind in schemas}, 0
def flush():
    for kind, writer in writers.items():
        writer.write_table(pa.Table.from_pylist(rows[kind], schema=schemas[kind])); rows[kind].clear()
def calls_of(calls):
    one = lambda call: {"id": text(call.get("id")), "type": text(call.get("type")), "function":
                        {key: text((call.get("function") or {}).get(key)) for key in ("name", "arguments")}}
    return [one(call) for call in calls] if isinstance(calls, list) else None
for line in open(sys.argv[1]):
    record = json.loads(line)
    messages = [{"role": m.get("role"), "content": text(m.get("content")), "name": text(m.get("name")),
                 "tool_call_id": text(m.get("tool_call_id")), "tool_calls": calls_of(m.get("tool_calls"))}
                for m in record["messages"]]
    size += len(line)
    rows["structs"].append({"id": record["id"], "messages": messages})
    slim = [{key: value for key, value in m.items() if value is not None} for m in messages]
    rows["texts"].append({"id": record["id"], "messages": json.dumps(slim, ensure_ascii=False)})
    if size > 16 << 20: flush(); size = 0
flush()
for writer in writers.values(): writer.close()
PY
input() { # NAME: its file
  local file=$work/$1.jsonl names="of_$1" found=()
  if [ ! -f "$file" ]; then
    for name in ${!names}; do [ ! -f "$folder/$name.jsonl.zst" ] || found+=("$folder/$name.jsonl.zst"); done
    [ ${#found[@]} -gt 0 ] || found=("$folder"/*.jsonl.zst)
    "$python" "$work/input.py" "$file" "${MB:-105}" "${found[@]}"
  fi
  echo "$file"
}
cpu() { # CPU seconds of a command
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null; } 2>&1 | awk 'END { print $1 + $2 }'
}
least() { awk -v a="$1" -v b="$2" 'BEGIN { print (b == "" || a < b) ? a : b }'; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { print a - b }'; }
condense() { # FILE
  rm -rf "$work/run"
  cpu "$condenser" compress "$1" -o "$work/run" --quiet --threads 1 --compression zstd:1 "${flags[@]}"
}
echo '{"id": "c", "messages": [{"role": "user", "content": "Hello"}]}' > "$work/one.jsonl"
start_d='' start_c=''
for _ in $(seq "$runs"); do
  start_d=$(least "$(cpu "$python" "$work/copy.py" start "" "")" "$start_d")
  start_c=$(least "$(condense "$work/one.jsonl")" "$start_c")
done
printf 'start: DuckDB %.2f s, condenser %.2f s; condenser %s\n' "$start_d" "$start_c" "${flags[*]}"
sum_c=0 sum_json=0 sum_inferred=0
for kind in "${kinds[@]}"; do
  case $kind in
    structs | texts) file=$work/$kind.parquet; copies=(table)
      [ -f "$file" ] || "$python" "$work/tables.py" "$(input prose)" "$work" ;;
    *) file=$(input "$kind"); copies=(json inferred) ;;
  esac
  declare -A best=()
  for _ in $(seq "$runs"); do
    for copy in "${copies[@]}"; do
      best[$copy]=$(least "$(cpu "$python" "$work/copy.py" "$copy" "$file" "$work/copy.parquet")" "${best[$copy]:-}")
    done
    best[condenser]=$(least "$(condense "$file")" "${best[condenser]:-}")
  done
  c=$(less "${best[condenser]}" "$start_c")
  printf '%s, %.0f MB: condenser %.2f s' "$kind" "$(awk -v b="$(stat -c %s "$file")" 'BEGIN { print b / 1e6 }')" "$c"
  for copy in "${copies[@]}"; do
    d=$(less "${best[$copy]}" "$start_d")
    awk -v c="$c" -v d="$d" -v k="$copy" 'BEGIN { printf "; DuckDB (%s) %.2f s, ratio %.2f", k, d, c / d }'
    [ "$copy" != json ] || sum_json=$(less "$sum_json" "-$d")
    [ "$copy" != inferred ] || sum_inferred=$(less "$sum_inferred" "-$d")
  done
  echo
  [ "${copies[0]}" = table ] || sum_c=$(less "$sum_c" "-$c")
  unset best
done
awk -v c="$sum_c" -v j="$sum_json" -v s="$sum_inferred" 'BEGIN { if (j > 0) printf "JSONL in sum: %.2f times the copy with a JSON column, %.2f times that with structs\n", c / j, c / s }'
