#!/bin/sh
# Makes target/python: a virtual environment with the packages that training data is loaded with in tests.
# `pip` is the only thing that needs the network; a complete environment is left as it is.
set -eu
cd "$(dirname "$0")/.."
venv=target/python
stamp="$venv/packages"
packages="datasets==5.2.0 pandas==2.3.3 pyarrow==22.0.0"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$packages" ]; then
    exit 0
fi
python3 -m venv "$venv"
# shellcheck disable=SC2086 # one word per package
"$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 $packages
echo "$packages" > "$stamp"
