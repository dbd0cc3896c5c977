#!/bin/sh
# How well the split of a data set finds what is alike, in corpora of JSON lines: scripts/split.sh FILE.jsonl …
# With --many N: time and memory for so many invented conversations, such as scripts/split.sh --many 1000000
# Files that are made on the way stand in target/split.
set -eu
cd "$(dirname "$0")/.."
program=${CONDENSER:-}
if [ -z "$program" ]; then
    cargo build --release --bin condenser
    program=${CARGO_TARGET_DIR:-target}/release/condenser
fi
exec python3 scripts/split.py "$program" "${SPLIT_WORK:-target/split}" "$@"
