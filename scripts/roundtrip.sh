#!/usr/bin/env bash
# Compresses every corpus of a folder, restores it, compares the bytes, verifies the run, flips a byte in every
# file of the run and expects exit code 4, and compresses the output once more.
# Usage: scripts/roundtrip.sh FOLDER [FLAGS…]      (FOLDER holds *.jsonl.zst)
set -euo pipefail
folder=$1; shift
condenser=${CONDENSER:-$(dirname "$0")/../target/release/condenser}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
n_flipped=0
for file in "$folder"/*.jsonl.zst; do
  name=$(basename "$file" .jsonl.zst)
  "$condenser" compress "$file" -o "$work/run" --trace --quiet "$@"
  "$condenser" restore "$work/run" -o "$work/back" --quiet
  zstd -dqc "$file" | cmp - "$work/back/$name.jsonl"
  "$condenser" verify "$work/run" --against "$file" --quiet

  for table in $(cd "$work/run" && find . -type f | sort); do
    size=$(stat -c %s "$work/run/$table")
    at=$(( (size * 7 / 13 + 5) % size ))
    cp "$work/run/$table" "$work/saved"
    byte=$(dd if="$work/saved" bs=1 skip=$at count=1 status=none | od -An -tu1 | tr -d ' ')
    printf "\\x$(printf %02x $(( byte ^ 1 )))" | dd of="$work/run/$table" bs=1 seek=$at conv=notrunc status=none
    code=0; "$condenser" verify "$work/run" --quiet >/dev/null 2>&1 || code=$?
    [ "$code" = 4 ] || { echo "$name: $table: a flipped byte at $at gives exit code $code"; exit 1; }
    cp "$work/saved" "$work/run/$table"; n_flipped=$((n_flipped + 1))
  done

  "$condenser" compress "$file" -o "$work/first" --format jsonl --quiet "$@"
  "$condenser" compress "$work"/first/conversations/*.jsonl.zst -o "$work/second" --format jsonl --quiet "$@"
  "$condenser" restore "$work/second" --through "$work/first" -o "$work/twice" --quiet
  zstd -dqc "$file" | cmp - "$work/twice/$name.jsonl"
  rm -rf "${work:?}"/*
  echo "$name: identical once and twice, verified"
done
echo "$n_flipped flipped bytes found"
