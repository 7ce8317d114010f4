//! The chunked coding (RFC 9112, section 7.1), read from the whole body at once, line by line.

use wire::{MAX_HEAD_BYTES, WireError};

/// A body that is whole, and how many bytes it took; `None` where more bytes are needed.
pub type Body = Option<(Vec<u8>, usize)>;

/// Decodes a body that stands at the start of `bytes`.
pub fn decode(bytes: &[u8]) -> Result<Body, WireError> {
    let (mut body, mut at, mut skipped) = (Vec::new(), 0, 0);
    loop {
        let Some((size, used)) = size(&bytes[at..], &mut skipped)? else { return Ok(None) };
        at += used;
        if size == 0 {
            return Ok(trailers(&bytes[at..], &mut skipped)?.map(|used| (body, at + used)));
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(end) = at.checked_add(size).filter(|end| *end <= bytes.len()) else {
            return Ok(None);
        };
        body.extend_from_slice(&bytes[at..end]);
        at = end;
        match &bytes[at..bytes.len().min(at + 2)] {
            b"\r\n" => at += 2,
            b"" | b"\r" => return Ok(None),
            _ => return Err(WireError::BadChunk),
        }
    }
}

/// The size that a chunk begins with, and the length of its line.
fn size(bytes: &[u8], skipped: &mut usize) -> Result<Option<(u64, usize)>, WireError> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits > 15 {
        return Err(WireError::BadChunk);
    }
    let spaces = bytes[digits..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let spaces = if digits > 0 { spaces } else { 0 };
    *skipped += spaces;
    if *skipped > MAX_HEAD_BYTES {
        return Err(WireError::HeadTooLarge);
    }
    let at = digits + spaces;
    let used = match bytes.get(at) {
        None => return Ok(None),
        Some(b'\r') if digits > 0 => line(&bytes[at..], skipped)?,
        // The byte that an extension begins with is not part of what is bounded.
        Some(b';') if digits > 0 => line(&bytes[at + 1..], skipped)?.map(|used| used + 1),
        Some(_) => return Err(WireError::BadChunk),
    };
    let Some(used) = used else { return Ok(None) };
    *skipped = 0;
    let text = std::str::from_utf8(&bytes[..digits]).expect("hex digits are ASCII");
    let size = u64::from_str_radix(text, 16).expect("fifteen digits fit");
    Ok(Some((size, at + used)))
}

/// The length of the trailers, the empty line that ends them included.
fn trailers(bytes: &[u8], skipped: &mut usize) -> Result<Option<usize>, WireError> {
    let mut at = 0;
    loop {
        let Some(used) = line(&bytes[at..], skipped)? else { return Ok(None) };
        at += used;
        if used == 2 {
            return Ok(Some(at));
        }
    }
}

/// The length of a line with its CRLF; its bytes count towards what may be skipped.
fn line(bytes: &[u8], skipped: &mut usize) -> Result<Option<usize>, WireError> {
    let length = bytes.iter().take_while(|byte| !matches!(byte, b'\r' | b'\n')).count();
    *skipped += length;
    if *skipped > MAX_HEAD_BYTES {
        return Err(WireError::HeadTooLarge);
    }
    match &bytes[length..bytes.len().min(length + 2)] {
        b"\r\n" => Ok(Some(length + 2)),
        b"" | b"\r" => Ok(None),
        _ => Err(WireError::BadChunk),
    }
}
