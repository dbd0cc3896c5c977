#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version, without its heading; exit code 1 when it says nothing.
# Usage: scripts/release-notes.sh 0.2.0        (or `Unreleased`)
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?scripts/release-notes.sh: name a version}
notes=$(awk -v heading="## [${version#v}]" '
  index($0, "## ") == 1 { inside = index($0, heading) == 1; next }
  inside { print }
' CHANGELOG.md)
if [ -z "${notes//[[:space:]]/}" ]; then
  echo "scripts/release-notes.sh: CHANGELOG.md has no section \`## [${version#v}]\`" >&2
  exit 1
fi
printf '%s\n' "$notes" | sed '/./,$!d'
