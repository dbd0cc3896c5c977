//! Bodies of requests that come from a file, in bounded memory: a form with a file in it, or lines as a list. Knows
//! nothing of what the lines say.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::error::Result;
use crate::llm::private::failed;

const CHUNK_BYTES: usize = 256 << 10;

/// A file with something before and behind it.
#[derive(Debug)]
pub(super) struct FileBody {
    before: Option<Bytes>,
    file: File,
    n_left: u64,
    after: Option<Bytes>,
    /// Line feeds become commas; the last one is left out.
    as_list: bool,
}

impl FileBody {
    /// The lines of the file as the items of a list.
    pub(super) fn list(path: &Path, before: &'static str, after: &'static str) -> Result<Self> {
        let body = Self::new(path, Bytes::from_static(before.as_bytes()), Bytes::from_static(after.as_bytes()))?;
        Ok(Self { n_left: body.n_left.saturating_sub(1), as_list: true, ..body })
    }

    /// The file as `file` of a form with the field `purpose`.
    pub(super) fn form(path: &Path, purpose: &str, name: &str, boundary: &str) -> Result<Self> {
        let before = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/jsonl\r\n\r\n"
        );
        Self::new(path, Bytes::from(before), Bytes::from(format!("\r\n--{boundary}--\r\n")))
    }

    fn new(path: &Path, before: Bytes, after: Bytes) -> Result<Self> {
        let cannot = |error| failed(path, "cannot be read", error);
        let file = File::open(path).map_err(cannot)?;
        let n_left = file.metadata().map_err(cannot)?.len();
        Ok(Self { before: Some(before), file, n_left, after: Some(after), as_list: false })
    }

    /// Bytes of the whole body that were not given yet.
    pub(super) fn n_bytes(&self) -> u64 {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        length(&self.before) + self.n_left + length(&self.after)
    }

    fn chunk(&mut self) -> std::io::Result<Bytes> {
        let mut chunk = vec![0; self.n_left.min(CHUNK_BYTES as u64) as usize];
        self.file.read_exact(&mut chunk)?;
        self.n_left -= chunk.len() as u64;
        if self.as_list {
            // JSON on one line has line feeds nowhere else.
            chunk.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b',');
        }
        Ok(chunk.into())
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, std::io::Error>>> {
        let body = &mut *self;
        Poll::Ready(if let Some(before) = body.before.take() {
            Some(Ok(Frame::data(before)))
        } else if body.n_left > 0 {
            Some(body.chunk().map(Frame::data))
        } else {
            body.after.take().map(|after| Ok(Frame::data(after)))
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.n_bytes())
    }
}
