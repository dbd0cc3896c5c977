"""Steps for pipelines of datatrove. A document's text is the record of a conversation as JSON; what brings it back and its figures
go into its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from datatrove.data import Document, DocumentsPipeline
from datatrove.pipeline.base import PipelineStep

from . import _condenser
from ._batches import METRICS_COLUMN, REJECTED_COLUMN, SIDECAR_COLUMN
from ._options import Options
from ._single import compress, restore

__all__ = ["Compress", "Restore"]


class Compress(PipelineStep):
    """Compresses the text of each document. Of one that holds no conversation the text stays, and `condenser_rejected` of its
    metadata says why. `options` and the keywords are those of :class:`condenser.Options`."""

    name = "🗜 condenser"
    type = "✂️ - COMPRESS"

    def __init__(self, options: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        super().__init__()
        self.options = Options(options, **more)

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """The documents with shorter texts, in their order."""
        for document in data or ():
            with self.track_time():
                self._compress(document)
            yield document

    def _compress(self, document: Document) -> None:
        if SIDECAR_COLUMN in document.metadata:
            raise _condenser.UsageError(f"{SIDECAR_COLUMN}: document {document.id} was compressed before; restore it first")
        try:
            compressed = compress(document.text, self.options)
        except _condenser.InputError as error:
            document.metadata[REJECTED_COLUMN] = str(error)
            self.stat_update("rejected")
            return
        self.stat_update("chars_in", value=compressed.metrics["chars_in"])
        self.stat_update("chars_out", value=compressed.metrics["chars_out"])
        document.text = compressed.conversation
        document.metadata[SIDECAR_COLUMN] = compressed.sidecar
        document.metadata[METRICS_COLUMN] = json.dumps(compressed.metrics)


class Restore(PipelineStep):
    """Brings the text of each document back that :class:`Compress` compressed, and takes away what that added."""

    name = "🗜 condenser"
    type = "✂️ - RESTORE"

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """The documents with their original texts, in their order."""
        for document in data or ():
            with self.track_time():
                sidecar = document.metadata.pop(SIDECAR_COLUMN, None)
                if sidecar is not None:
                    document.text = restore(document.text, sidecar)
                elif REJECTED_COLUMN not in document.metadata:
                    raise _condenser.InputError(f"{SIDECAR_COLUMN}: document {document.id} has no sidecar")
                document.metadata.pop(METRICS_COLUMN, None)
                document.metadata.pop(REJECTED_COLUMN, None)
            yield document
