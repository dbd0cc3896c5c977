#!/usr/bin/env bash
# What presets, budgets and a target ratio bring on real conversations where use decides: docs/results/presets.csv.
# Usage: scripts/presets.sh FOLDER [PROGRAM] > docs/results/presets.csv
#        (FOLDER holds *.jsonl.zst; PROGRAM is condenser, by default the release build)
set -euo pipefail
folder=$1
program=$(realpath "${2:-$(dirname "$0")/../target/release/condenser}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo options,corpus,conversations,ratio,grounding,edits,facts,next_turn,next_lines,fact_retention
one() {
    local name=$1 corpus=$2; shift 2
    rm -rf "$work/run"
    "$program" compress "$folder/$corpus.jsonl.zst" -o "$work/run" --quiet "$@" || [ $? = 3 ]
    "$program" report "$work/run" --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
t = report["totals"]
share = lambda a, b: "%.4f" % (t[a] / t[b]) if t[b] else ""
means = {d["figure"]: d["mean"] for d in report["distributions"] if d["class"] is None}
mean = lambda figure: "%.4f" % means[figure] if figure in means else ""
print(sys.argv[1], sys.argv[2], t["conversations"], "%.3f" % t["ratio"], share("used_in_place", "used"), share("edits_whole", "edits"),
      share("facts_held", "facts"), share("next_turn_in_place", "next_turn_needed"), share("next_turn_lines_shown", "next_turn_lines"),
      mean("fact_retention"), sep=",")' "$name" "$corpus"
}
sessions="cc_entire_cli cc_gitsync codex_gitsync openhands_swebench pi_sessions"
for corpus in $sessions sweagent_demos tau_dev qmsum_academic_product ubuntu_irc mtbench_arena; do
    one "preset balanced" "$corpus"
    one "preset quality" "$corpus" --preset quality
    one "preset ratio" "$corpus" --preset ratio
    one "look_ahead off" "$corpus" --look-ahead off
done
for corpus in $sessions; do
    one "target_ratio 3" "$corpus" --target-ratio 3
    one "token_budget 8000" "$corpus" --token-budget 8000
done
