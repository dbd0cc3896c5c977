#!/usr/bin/env bash
# Instructions that two commits take for the same work, side by side; ends with 1 when one of the groups takes more than LIMIT
# per cent more in the second one. Counted by `perf stat` where the machine lets it, else by valgrind: the load of the machine
# makes no difference. The work is `benches/bin/work.rs`; what a group takes is that of three rounds less that of one.
# Usage: scripts/regress.sh [OLD [NEW]]      (OLD: HEAD~1; NEW: the working tree; any names of commits)
# Environment: LIMIT=1  GROUPS_OF_WORK="decode use look options encode"  CONDENSER_CORPORA=folder of *.jsonl.zst
set -euo pipefail; shopt -s inherit_errexit
root=$(cd "$(dirname "$0")/.." && pwd)
old=${1:-HEAD~1}; new=${2:-}; limit=${LIMIT:-1}
groups=${GROUPS_OF_WORK:-decode use look options encode}
build=$root/target/regress; mkdir -p "$build"
# Both commits work on the same records.
export CONDENSER_CORPORA=${CONDENSER_CORPORA:-$root/jobs/sample}
# The program `work` of a commit, or of the working tree.
program() { # COMMIT
  local tree=$root name=tree target=$build/of-tree
  if [ -n "$1" ]; then
    name=$(git -C "$root" rev-parse --short=12 "$1^{commit}")
    # Apart from those of the working tree, whose files are older than what was built of a commit.
    tree=$build/$name.src target=$build/of-commits
    if [ -x "$build/work.$name" ]; then echo "$build/work.$name"; return; fi
    rm -rf "$tree"; git -C "$root" worktree prune
    git -C "$root" worktree add --quiet --detach "$tree" "$name" >&2
    # A commit from before the program was there is asked the same.
    [ -f "$tree/benches/bin/work.rs" ] || {
      cp "$root/benches/bin/work.rs" "$tree/benches/bin/"
      printf '\n[[bin]]\nname = "work"\npath = "bin/work.rs"\n' >> "$tree/benches/Cargo.toml"
    }
  fi
  (cd "$tree" && cargo build --quiet --release -p condenser-benches --bin work --target-dir "$target") >&2
  cp "$target/release/work" "$build/work.$name"
  [ -z "$1" ] || git -C "$root" worktree remove --force "$tree" >&2
  echo "$build/work.$name"
}
perf_works() { perf stat -x, -e instructions:u true 2>&1 | grep -q '^[0-9]'; }
instructions() { # PROGRAM GROUP TIMES
  if perf_works; then
    perf stat -x, -e instructions:u "$@" 2>&1 >/dev/null | awk -F, '/instructions/ { print $1 }'
  else
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | awk '/Collected/ { print $NF }'
  fi
}
perf_works || command -v valgrind >/dev/null || { echo "needs perf or valgrind to count instructions" >&2; exit 2; }
a=$(program "$old"); b=$(program "$new")
printf '%-10s %15s %15s %8s\n' group "$old" "${new:-working tree}" ratio
worse=0
for group in $groups; do
  of=()
  for program in "$a" "$b"; do of+=($(($(instructions "$program" "$group" 3) - $(instructions "$program" "$group" 1)))); done
  awk -v g="$group" -v a="${of[0]}" -v b="${of[1]}" -v limit="$limit" 'BEGIN {
    printf "%-10s %15d %15d %8.4f\n", g, a, b, b / a; exit !(b > a * (1 + limit / 100)) }' && worse=1
done
exit $worse
