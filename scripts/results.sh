#!/usr/bin/env bash
# Prints the tables of docs/results.md. Usage: scripts/results.sh FOLDER     (FOLDER holds *.jsonl.zst)
set -euo pipefail
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
cargo build --locked --release -p condenser-benches --bin results
for flag in "" --hard; do
  # shellcheck disable=SC2086
  target/release/results $flag "$folder"/*.jsonl.zst
done
