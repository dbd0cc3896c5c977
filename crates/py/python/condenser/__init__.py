"""Compresses conversations, provably lossless: every original comes back byte for byte.

One conversation::

    >>> import condenser
    >>> log = "".join(f"test keeps_row_{n} ... ok\\n" for n in range(400))
    >>> messages = [
    ...     {"role": "user", "content": "Why does the nightly job fail?"},
    ...     {"role": "tool", "content": log + "test syncs ... FAILED: disk full\\n399 passed, 1 failed\\n"},
    ...     {"role": "assistant", "content": "The disk of the runner is full."},
    ... ]
    >>> compressed = condenser.compress(messages, recency_window=1)
    >>> len(compressed.messages[1]["content"]) < 400
    True
    >>> "disk full" in compressed.messages[1]["content"]
    True
    >>> condenser.restore(compressed) == messages
    True

Batches of Arrow, pandas or polars, and the engines that hold such: :class:`BatchCompressor`. Whole corpora:
:func:`run`, :func:`open`; on a cluster, :mod:`condenser.ray` and :mod:`condenser.spark`.
"""

from ._batches import METRICS_COLUMN, REJECTED_COLUMN, SIDECAR_COLUMN, BatchCompressor, BatchRestorer
from ._condenser import (
    CondenserError,
    InputError,
    InternalError,
    StoreError,
    UnfinishedError,
    UsageError,
    VerificationError,
    __version__,
)
from ._jobs import Run, finish, open, run
from ._options import Options
from ._single import Compressed, compress, count_tokens, restore

__all__ = [
    "METRICS_COLUMN",
    "REJECTED_COLUMN",
    "SIDECAR_COLUMN",
    "BatchCompressor",
    "BatchRestorer",
    "Compressed",
    "CondenserError",
    "InputError",
    "InternalError",
    "Options",
    "Run",
    "StoreError",
    "UnfinishedError",
    "UsageError",
    "VerificationError",
    "__version__",
    "compress",
    "count_tokens",
    "finish",
    "open",
    "restore",
    "run",
]
