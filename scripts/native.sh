#!/usr/bin/env bash
# Every file of a folder in its own shape: compressed, verified against the original and restored; one line of CSV
# per file, as in docs/results/native.csv. Exit code 1 when one does not come back.
# Usage: scripts/native.sh FOLDER [PROGRAM]     (FOLDER holds files as programs wrote them, for example the unpacked
#        native.tar.zst of the corpora, or Parquet files; PROGRAM is condenser, by default the release build)
set -euo pipefail
folder=$1
program=${2:-$(dirname "$0")/../target/release/condenser}
program=$(realpath "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
number() { sed -n "s/^ *\"$1\": *\([0-9]*\).*/\1/p" "$work/run/manifest.json" | tail -1; }
echo file,conversations,rejects,chars_in,chars_out,ratio,raw_records,restored
cd "$folder"
while IFS= read -r file; do
    rm -rf "$work/run" "$work/back"
    code=0
    "$program" compress "$file" -o "$work/run" --quiet 2> "$work/told" || code=$?
    if [ ! -f "$work/run/manifest.json" ]; then
        echo "\"$file\",,,,,,,\"refused: $(head -1 "$work/told" | sed 's/"/""/g')\""
        continue
    fi
    same=identical
    "$program" verify "$work/run" --against "$file" --quiet 2> "$work/told" || same="DIFFERS: $(head -1 "$work/told")"
    "$program" restore "$work/run" -o "$work/back" --quiet 2> "$work/told" || same="NOT RESTORED: $(head -1 "$work/told")"
    back=$(find "$work/back" -type f | head -1)
    case $file in
    *.parquet | *.arrow) [ "$same" = identical ] && same='equal table' ;;
    *) [ "$same" != identical ] || cmp -s "$file" "$back" || same='DIFFERS' ;;
    esac
    case $same in identical | 'equal table') ;; *) failed=1 ;; esac
    raw=$(zstdcat "$work"/run/commits/*.json.zst | sed -n 's/^ *"raw_records": *\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
    awk -v file="$file" -v conversations="$(number conversations)" -v rejects="$(number rejects)" \
        -v before="$(number chars_in)" -v after="$(number chars_out)" -v raw="$raw" -v same="$same" 'BEGIN {
        ratio = (after + 0 > 0) ? sprintf("%.2f", before / after) : ""
        if (file ~ /[,"]/) { gsub(/"/, "\"\"", file); file = "\"" file "\"" }
        if (same ~ /[,"]/) { gsub(/"/, "\"\"", same); same = "\"" same "\"" }
        printf "%s,%d,%d,%d,%d,%s,%d,%s\n", file, conversations, rejects, before, after, ratio, raw, same }'
done < <(find . -type f ! -name '*.md' | sed 's|^\./||' | LC_ALL=C sort)
exit $failed
