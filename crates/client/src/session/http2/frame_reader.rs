//! Received bytes as frames, in any split.

use wire::http2::{ErrorCode, FRAME_HEAD_BYTES, Flags, FrameHead, FrameKind, MAX_FRAME_BYTES};

/// A part of the received bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FramePiece<'a> {
    /// A whole frame that is no DATA.
    Frame(FrameHead, &'a [u8]),
    /// The head of a DATA frame.
    DataHead(FrameHead),
    /// Bytes of a body; if they are the last of their frame, the bytes of its padding.
    Data(FrameHead, &'a [u8], Option<usize>),
}

/// Divides received bytes into frames. Payloads of DATA are passed on as they come, others when they are
/// complete.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    /// The beginning of a frame that is no DATA.
    partial: Vec<u8>,
    /// Whether `partial` was passed on.
    is_used: bool,
    data: Option<DataFrame>,
    /// Bytes of padding that are to come.
    skipped: usize,
}

/// A DATA frame whose payload is being received.
#[derive(Debug, Clone, Copy)]
struct DataFrame {
    head: FrameHead,
    /// Bytes of the body that are to come.
    left: usize,
    padding: usize,
    /// Whether the first byte, which has the length of the padding, is to come.
    needs_padding: bool,
}

impl FrameReader {
    /// Returns the next piece and removes it from `rest`; `None` if more bytes are needed.
    pub(super) fn next<'a, 'b: 'a>(
        &'a mut self,
        rest: &mut &'b [u8],
    ) -> Result<Option<FramePiece<'a>>, ErrorCode> {
        if std::mem::take(&mut self.is_used) {
            self.partial.clear();
        }
        let padding = self.skipped.min(rest.len());
        *rest = &rest[padding..];
        self.skipped -= padding;
        if let Some(data) = self.data {
            return self.next_data(data, rest);
        }
        if self.partial.is_empty()
            && let Some((head, after)) = rest.split_first_chunk::<FRAME_HEAD_BYTES>()
        {
            let head = checked(FrameHead::read(head))?;
            if head.kind == FrameKind::Data {
                *rest = after;
                return Ok(Some(self.begin_data(head)));
            }
            if let Some((payload, after)) = after.split_at_checked(head.length) {
                *rest = after;
                return Ok(Some(FramePiece::Frame(head, payload)));
            }
        }
        self.next_of_parts(rest)
    }

    /// Does the same as `next` for a frame that was received in parts.
    fn next_of_parts<'a, 'b: 'a>(
        &'a mut self,
        rest: &mut &'b [u8],
    ) -> Result<Option<FramePiece<'a>>, ErrorCode> {
        let Some(head) = self.fill(FRAME_HEAD_BYTES, rest) else { return Ok(None) };
        let head = checked(head)?;
        if head.kind == FrameKind::Data {
            self.partial.clear();
            return Ok(Some(self.begin_data(head)));
        }
        if self.fill(FRAME_HEAD_BYTES + head.length, rest).is_none() {
            return Ok(None);
        }
        self.is_used = true;
        Ok(Some(FramePiece::Frame(head, &self.partial[FRAME_HEAD_BYTES..])))
    }

    /// Fills `partial` with received bytes up to a length; returns the head of the frame once it is as
    /// long.
    fn fill(&mut self, length: usize, rest: &mut &[u8]) -> Option<FrameHead> {
        let missing = length.saturating_sub(self.partial.len());
        let (taken, after) = rest.split_at(missing.min(rest.len()));
        self.partial.extend_from_slice(taken);
        *rest = after;
        let head = self.partial.first_chunk::<FRAME_HEAD_BYTES>().map(FrameHead::read);
        head.filter(|_| self.partial.len() >= length)
    }

    fn begin_data(&mut self, head: FrameHead) -> FramePiece<'static> {
        let needs_padding = head.flags.has(Flags::PADDED);
        self.data = Some(DataFrame { head, left: head.length, padding: 0, needs_padding });
        FramePiece::DataHead(head)
    }

    fn next_data<'a>(
        &mut self,
        mut data: DataFrame,
        rest: &mut &'a [u8],
    ) -> Result<Option<FramePiece<'a>>, ErrorCode> {
        if data.needs_padding {
            if data.left == 0 {
                return Err(ErrorCode::FRAME_SIZE_ERROR);
            }
            let Some((padding, after)) = rest.split_first() else { return Ok(None) };
            *rest = after;
            (data.padding, data.needs_padding) = (usize::from(*padding), false);
            let left = (data.left - 1).checked_sub(data.padding);
            data.left = left.ok_or(ErrorCode::PROTOCOL_ERROR)?;
        }
        let (body, after) = rest.split_at(data.left.min(rest.len()));
        *rest = after;
        data.left -= body.len();
        let is_last = data.left == 0;
        self.data = Some(data).filter(|_| !is_last);
        if is_last {
            self.skipped = data.padding;
        }
        let is_empty = body.is_empty() && !is_last;
        let padding = data.padding + usize::from(data.head.flags.has(Flags::PADDED));
        let end = is_last.then_some(padding);
        Ok((!is_empty).then_some(FramePiece::Data(data.head, body, end)))
    }
}

/// Refuses frames that are longer than this end allows.
fn checked(head: FrameHead) -> Result<FrameHead, ErrorCode> {
    if head.length > MAX_FRAME_BYTES { Err(ErrorCode::FRAME_SIZE_ERROR) } else { Ok(head) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: FrameKind, flags: Flags, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
        out.extend_from_slice(payload);
        out
    }

    /// What a reader makes of parts; bytes of one body are joined.
    fn read(parts: &[&[u8]]) -> Result<Vec<String>, ErrorCode> {
        let (mut reader, mut found, mut body) = (FrameReader::default(), Vec::new(), Vec::new());
        for part in parts {
            let mut rest = *part;
            while let Some(piece) = reader.next(&mut rest)? {
                match piece {
                    FramePiece::Frame(head, payload) => {
                        found.push(format!("{:?} {} {payload:?}", head.kind, head.stream));
                    }
                    FramePiece::DataHead(head) => found.push(format!("data {}", head.length)),
                    FramePiece::Data(_, bytes, end) => {
                        body.extend_from_slice(bytes);
                        if let Some(padding) = end {
                            let body = std::mem::take(&mut body);
                            found.push(format!("body {body:?} {padding}"));
                        }
                    }
                }
            }
            assert!(rest.is_empty());
        }
        Ok(found)
    }

    #[test]
    fn frames_are_the_same_at_every_pair_of_split_points() {
        let padded = [&[3], &b"hi"[..], &[0; 3]].concat();
        let bytes = [
            frame(FrameKind::Settings, Flags::NONE, 0, &[]),
            frame(FrameKind::Headers, Flags::END_HEADERS, 1, &[0x88]),
            frame(FrameKind::Data, Flags::NONE, 1, b"abc"),
            frame(FrameKind::Data, Flags::PADDED, 1, &padded),
            frame(FrameKind::Data, Flags::PADDED, 1, &[0]),
            frame(FrameKind::Data, Flags::END_STREAM, 1, b""),
            frame(FrameKind::Other(77), Flags::NONE, 3, &[1, 2, 3]),
        ]
        .concat();
        let whole = read(&[&bytes]).unwrap();
        let expected = [
            "Settings 0 []",
            "Headers 1 [136]",
            "data 3",
            "body [97, 98, 99] 0",
            "data 6",
            "body [104, 105] 4",
            "data 1",
            "body [] 1",
            "data 0",
            "body [] 0",
            "Other(77) 3 [1, 2, 3]",
        ];
        assert_eq!(whole, expected);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(read(&parts).as_ref(), Ok(&whole), "{first} {second}");
            }
        }
    }

    #[test]
    fn frames_that_are_too_long_and_wrong_padding_are_refused() {
        let long = frame(FrameKind::Headers, Flags::NONE, 1, &[0; MAX_FRAME_BYTES + 1]);
        assert_eq!(read(&[&long]), Err(ErrorCode::FRAME_SIZE_ERROR));
        assert_eq!(read(&[&long[..4], &long[4..9]]), Err(ErrorCode::FRAME_SIZE_ERROR));
        let padding = frame(FrameKind::Data, Flags::PADDED, 1, &[2, 0]);
        assert_eq!(read(&[&padding]), Err(ErrorCode::PROTOCOL_ERROR));
        let without = frame(FrameKind::Data, Flags::PADDED, 1, &[]);
        assert_eq!(read(&[&without, b"x"]), Err(ErrorCode::FRAME_SIZE_ERROR));
    }
}
