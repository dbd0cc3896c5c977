#!/usr/bin/env bash
# Makes the site of docs/ in target/book, with the report, drift, sweep and one conversation of the sample corpus as live
# pages. Needs mdbook on the PATH; --pages makes the live pages alone, in target/site/src/live.
# Environment: CONDENSER_BIN=program to take instead of one that is built
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${CONDENSER_BIN:-}" ]; then
  cargo build --quiet --locked --release --package condenser
  CONDENSER_BIN=${CARGO_TARGET_DIR:-target}/release/condenser
fi
program=$(realpath "$CONDENSER_BIN")
rm -rf target/site
mkdir -p target/site/src/live
cp -r docs/. ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md schemas target/site/src
# What stands beside docs/ in the repository stands in the site itself.
sed -i 's|](\.\./|](|g; s|](docs/|](|g' target/site/src/*.md
live=$PWD/target/site/src/live
(
  cd jobs
  "$program" compress sample -o ../target/site/run --trace --quiet
  "$program" compress sample -o ../target/site/before --preset quality --quiet
)
(
  cd target/site
  "$program" report run --title "The sample corpus" --price-per-million 3 --html "$live/report.html" >/dev/null
  "$program" report before run --title "From quality to balanced" --html "$live/drift.html" >/dev/null
  "$program" sweep ../../jobs/sample --sample 60 --quiet --html "$live/sweep.html" >/dev/null
  "$program" show run sessions-tides-gauge --html "$live/show.html" >/dev/null
)
[ "${1:-}" != --pages ] || exit 0
cat >target/site/src/live.md <<'PAGE'
# Live pages

What condenser says of the sample corpus of its repository:

- [a report](live/report.html), the page to send on
- [a drift report](live/drift.html) between two presets
- [a sweep](live/sweep.html) over option sets
- [one conversation](live/show.html) before and after
PAGE
printf -- '- [%s](%s.md)\n' 'Live pages' live Architecture ARCHITECTURE Contributing CONTRIBUTING Security SECURITY \
  Changes CHANGELOG >>target/site/src/SUMMARY.md
MDBOOK_BOOK__SRC=target/site/src mdbook build
