#!/usr/bin/env bash
# Attacks condenser from a seed, in full: what every run of the tests does a few times of, this does until it can be
# believed. Prints a line per kind with its counts, the verdict at the end; exit code 0 when everything held.
# Usage: scripts/attack.sh [SEED] [KIND…]        (seed 1 and all kinds without arguments)
# Needs a Rust toolchain with `cc`, and bash. Faults and clocks are those of Linux (`tests/attack/shim.c`, LD_PRELOAD).
# Environment: CONDENSER=program to attack (else the release build of this checkout)
#
#   KIND      what is done                                              tests
#   changes   1,000 random changes of runs of Parquet, JSON lines and   attack::changes
#             Arrow, from lines, a table and an event log: bits,
#             blocks, files, sealed values; 100 of a store of nights;
#             then verify, get, show, report, restore, expire
#   kills     250 of compress (local disk, S3), restore, a night of a   crash::, attack::kills
#             compaction, expire; then the same call again
#   faults    a few hundred of compress, restore, report, a night,      attack::faults
#             expire: full disk, EIO, EMFILE, few handles, half-done
#             and interrupted calls, in write, read, rename, fsync,
#             open; then the same call again
#   names     crafted runs and stores: absolute names, `..`, NUL,       attack::names
#             links, separators in manifest, commits, plan, sources,
#             ledger
#   types     tables of every type of Arrow and Parquet beside and      attack::types, rows::
#             inside messages, odd names, INT96, lists without
#             annotation, through three containers and two formats
#   clocks    1970, 2262, and a clock that jumps                        attack::clocks
#   stores    S3 servers that fail up to a third of their calls, tear   remote_runs::, store::
#             connections, stall
#   pages     hostile transcripts in reports and pages, in Chromium     html::, browser::
#             where there is one
#
# Damaged input that is no attack has a table of its own (docs/results/bad-input.csv, damage::); giant records are in giants::.
set -euo pipefail
cd "$(dirname "$0")/.."
seed=1
if [[ ${1:-} =~ ^[0-9]+$ ]]; then seed=$1; shift; fi
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(changes kills faults names types clocks stores pages)

tests_of() {
  case $1 in
    changes) echo attack::changes ;;
    kills) echo crash:: attack::kills ;;
    faults) echo attack::faults ;;
    names) echo attack::names ;;
    types) echo attack::types rows:: ;;
    clocks) echo attack::clocks ;;
    stores) echo remote_runs:: store:: ;;
    pages) echo html:: browser:: ;;
    *) echo "scripts/attack.sh: there is no kind $1" >&2; return 2 ;;
  esac
}
for kind in "${kinds[@]}"; do tests_of "$kind" > /dev/null; done

if [ -z "${CONDENSER:-}" ]; then
  cargo build --locked --release
  CONDENSER=$PWD/target/release/condenser
fi
cargo test --locked --test suite --no-run
export CONDENSER_ATTACK=full CONDENSER_ATTACK_SEED=$seed CONDENSER_ATTACKED=$CONDENSER CONDENSER_KILLS=80
logs=target/attack
mkdir -p "$logs"
failed=()
for kind in "${kinds[@]}"; do
  read -ra tests <<< "$(tests_of "$kind")"
  started=$SECONDS
  state=held
  cargo test --locked --test suite -- "${tests[@]}" --nocapture > "$logs/$kind.log" 2>&1 || state=FAILED
  grep -E '^(attack: |[0-9]+ kills)' "$logs/$kind.log" | sed "s/^attack: //; s/^/  /" || true
  passed=$(sed -n 's/^test result: [a-zA-Z]*\. \([0-9]* passed; [0-9]* failed\).*/\1/p' "$logs/$kind.log")
  echo "$kind: $state, ${passed:-no test ran}, $((SECONDS - started)) s, seed $seed"
  [ "$state" = held ] || failed+=("$kind")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "attack: NOT held: ${failed[*]}; see $logs"
  exit 1
fi
echo "attack: everything held, seed $seed"
