#!/usr/bin/env bash
# Peak memory while compressing a stream of about 2 GB made by repeating corpora under fresh ids.
# Usage: scripts/memory.sh FOLDER [FLAGS…]     (FOLDER holds *.jsonl.zst)
set -euo pipefail
folder=$1; shift
condenser=${CONDENSER:-$(dirname "$0")/../target/release/condenser}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for file in "$folder"/*.jsonl.zst; do zstd -dqc "$file"; done > "$work/once.jsonl"
size=$(stat -c %s "$work/once.jsonl")
rounds=$(( (2000000000 + size - 1) / size ))
for round in $(seq "$rounds"); do sed "s|^{\"id\": \"|&$round/|" "$work/once.jsonl"; done \
  | /usr/bin/time -f "%e s wall, %U s user, %S s system, peak %M KB" "$condenser" compress - -o "$work/run" --quiet "$@"
echo "$rounds times $size bytes"
