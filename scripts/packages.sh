#!/usr/bin/env bash
# Packs the crates that are published and tells how large they are; exit code 1 when one has more than 2 MB, or a file that is not
# needed to build it.
# Usage: scripts/packages.sh [--verify]        (with --verify each is built from its package, which takes minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(condenser-core condenser)
flags=(--locked --allow-dirty)
[ "${1:-}" = --verify ] || flags+=(--no-verify)
for crate in "${crates[@]}"; do flags+=(--package "$crate"); done
cargo package --quiet "${flags[@]}"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
state=0
for crate in "${crates[@]}"; do
  package=${CARGO_TARGET_DIR:-target}/package/$crate-$version.crate
  bytes=$(wc -c < "$package")
  odd=$(tar --list --gzip --file "$package" | cut -d/ -f2- |
    grep -vE '^(src|schemas|words|vocabularies)/|^(Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json|README\.md|CHANGELOG\.md|LICENSE-(MIT|APACHE)|use\.toml)$' || true)
  echo "$crate $version: $bytes bytes"
  if [ "$bytes" -gt 2000000 ]; then echo "scripts/packages.sh: $crate has more than 2 MB" >&2; state=1; fi
  if [ -n "$odd" ]; then echo "scripts/packages.sh: $crate holds $odd" >&2; state=1; fi
done
exit $state
