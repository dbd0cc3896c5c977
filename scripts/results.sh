#!/usr/bin/env bash
# Measures the tables of docs/results.md again, into docs/results/*.csv. Takes an hour on two cores; a table alone by name.
# Usage: scripts/results.sh FOLDER [corpora|options|budgets]…     (FOLDER holds *.jsonl.zst)
set -euo pipefail
folder=$(cd "$1" && pwd); shift
cd "$(dirname "$0")/.."
tables=("$@"); [ ${#tables[@]} -gt 0 ] || tables=(corpora options budgets)
mkdir -p docs/results
for table in "${tables[@]}"; do
  cargo run --locked --release -q -p condenser-benches --bin results -- "$table" "$folder" > "docs/results/$table.csv"
done
