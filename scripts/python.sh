#!/usr/bin/env bash
# Builds the Python wheel into target/wheels, installs it into a virtual environment of its own and runs the tests of the package
# with the engines that they are about: pyarrow, pandas, polars, datasets, duckdb, datatrove, tqdm and matplotlib.
# Usage: scripts/python.sh [--engines] [--quick] [ARGUMENTS OF PYTEST]
#   --engines   also Ray, Spark (which takes a Java 17 on the PATH), Dask and Daft: 1 GB to load, two minutes more
#   --quick     with the development profile, whose parts the Rust tests have built already
# Environment: PYTHON=python3 of another version    CONDENSER_CORPORA=folder of real corpora to take instead of the sample
#              CONDENSER_BIN=program to compare with, instead of one that is built
# Ends with 77, and says so, where there is no Python 3.10 or newer, or where its packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
packages="maturin==1.16.0 pytest==9.2.0 pyarrow==25.0.1 pandas==3.1.1 polars==2.1.0 datasets==5.2.0 duckdb==2.0.1 datatrove==0.10.1 orjson==3.13.0 tqdm==4.67.3 matplotlib==3.11.2"
engines="ray==2.60.0 pyspark==4.3.0 dask==2026.8.0 daft==0.7.26"
profile=release
while [ $# -gt 0 ]; do
  case $1 in
    --engines) packages="$packages $engines"; export CONDENSER_ENGINES=1 ;;
    --quick) profile=dev ;;
    --help) sed -n '2,11s/^# \?//p' "$0"; exit ;;
    *) break ;;
  esac
  shift
done
without() { echo "python: $1; the tests of the Python package are left out" >&2; exit 77; }
python=${PYTHON:-python3}
"$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || without "there is no Python 3.10 or newer"
venv=$PWD/target/python-package${CONDENSER_ENGINES:+-engines}
wanted="$("$python" --version) $packages"
if [ ! -f "$venv/packages" ] || [ "$(cat "$venv/packages")" != "$wanted" ]; then
  echo "python: making $venv, once" >&2
  rm -rf "$venv"
  # shellcheck disable=SC2086 # one word per package
  { "$python" -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 60 $packages; } ||
    without "its packages cannot be had"
  echo "$wanted" >"$venv/packages"
fi
if [ -z "${CONDENSER_BIN:-}" ]; then
  folder=$profile; [ "$profile" != dev ] || folder=debug
  cargo build --quiet --locked --profile "$profile" --package condenser --bin condenser
  CONDENSER_BIN=$(realpath "${CARGO_TARGET_DIR:-target}/$folder/condenser")
fi
rm -rf target/wheels
VIRTUAL_ENV=$venv "$venv/bin/maturin" build --quiet --locked --profile "$profile" --out target/wheels
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl
ls -l target/wheels
export CONDENSER_BIN PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" -m pytest -q --no-header -p no:cacheprovider "$@"
