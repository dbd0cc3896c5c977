//! The files of `native.tar.zst` among the real corpora: records in the shapes in which programs wrote them.

use std::path::Path;

use super::corpora;

/// Name and bytes of every file, in the order of the archive; empty when no folder of corpora is named.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = corpora::folder() else { return Vec::new() };
    let path = folder.join("native.tar.zst");
    let file = std::fs::File::open(&path).expect("the archive is there");
    let found = untar(&zstd::decode_all(file).expect("whole"));
    assert!(!found.is_empty(), "{} holds no file", path.display());
    found
}

/// The regular files of a tar archive: blocks of 512 bytes, a header before every file.
fn untar(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |field: &[u8]| {
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let (mut at, mut long_name, mut found) = (0, None, Vec::new());
    while let Some(header) = archive.get(at..at + 512).filter(|header| header[0] != 0) {
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).expect("a size in octal digits");
        let body = &archive[at + 512..at + 512 + size];
        at += 512 + size.div_ceil(512) * 512;
        match header[156] {
            b'L' => long_name = Some(text(body)),
            b'0' | 0 => {
                let prefix = if &header[257..262] == b"ustar" { text(&header[345..500]) } else { String::new() };
                let name = Path::new(&prefix).join(text(&header[..100])).to_string_lossy().into_owned();
                found.push((long_name.take().unwrap_or(name), body.to_vec()));
            }
            _ => long_name = None,
        }
    }
    found
}
