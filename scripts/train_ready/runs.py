"""Makes the runs that are looked at, and says for which target a run was written; knows nothing of rows."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

TARGETS = ["trl", "openai", "sharegpt", "axolotl", "llama-factory", "unsloth"]
# Every message is within the last so many: nothing is compressed.
WHOLE_WINDOW = 1_000_000


def program(root):
    """The program as named, else the build that is there."""
    named = os.environ.get("CONDENSER")
    built = [root / "target" / kind / "condenser" for kind in ("release", "debug")]
    found = named or next((str(path) for path in built if path.is_file()), None) or shutil.which("condenser")
    if not found:
        sys.exit("error: no condenser: `cargo build --release` makes one, CONDENSER=… names another")
    return str(Path(found).resolve())


def condenser(root, *arguments):
    """Runs condenser in the root of the repository; ends the program where it fails (rejects are none of our business)."""
    done = subprocess.run([program(root), *map(str, arguments)], cwd=root, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"error: condenser {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr}")


def dataset_job(root, output, **keys):
    """The run of the dataset job with further keys (`__` for a dot), made anew."""
    shutil.rmtree(output, ignore_errors=True)
    sets = [f"{key.replace('__', '.')}={json.dumps(value)}" for key, value in {"output": str(output), **keys}.items()]
    condenser(root, "run", "jobs/finetune-dataset.toml", "--quiet", *[word for one in sets for word in ("--set", one)])
    return output


def of_sample(root, template):
    """A run of the sample corpus for each target, with its target; that for trl has this chat template, and windows."""
    folder = root / "target/train-ready/runs"
    further = {"trl": {"dataset__chat_template": str(template), "dataset__max_tokens": 2048}}
    return [(target, dataset_job(root, folder / target, dataset__target=target, **further.get(target, {}))) for target in TARGETS]


def training_template(run):
    """The chat template that a run has for its trainer; None where it has none."""
    path = run / "dataset/chat_template.jinja"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def one_of_sample(root):
    """The run of the sample corpus for trl, all of it in train."""
    return dataset_job(root, root / "target/train-ready/runs/loss", dataset__eval_share=0.0, dataset__compact="always")


def without_compaction(root, run):
    """The rows of the originals of a run: restored, and through the same job with nothing compressed."""
    folder = root / "target/train-ready/originals"
    shutil.rmtree(folder, ignore_errors=True)
    condenser(root, "restore", run.resolve(), "-o", folder / "inputs", "--quiet")
    return dataset_job(root, folder / "run", inputs=[str(folder / "inputs")], engine__recency_window=WHOLE_WINDOW,
                       dataset__eval_share=0.0)


def target_of(run):
    """The target as the manifest of the run has it; a run without one is refused."""
    manifest = run / "manifest.json"
    if not manifest.is_file():
        sys.exit(f"error: {run} is no finished run")
    dataset = json.loads(manifest.read_text())["options"].get("dataset")
    if not dataset:
        sys.exit(f"error: {run} is no run of a job with kind = \"dataset\"")
    return dataset.get("target", "trl")
