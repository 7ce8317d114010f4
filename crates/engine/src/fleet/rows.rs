//! Rows of the log between processes: fixed width, since there are as many as requests.

use client::{Reason, Stamps};
use net::Nanos;

use crate::measure::report::{ExchangeRow, StreamRow};

/// Request, measured, failure, status, nine stamps; whether it was a stream, four stamps, texts
/// and tokens of it (little endian).
const ROW_BYTES: usize = 4 + 1 + 2 + 2 + 9 * 8 + 1 + 6 * 8;

/// Stands for no failure; there are far fewer reasons.
const NO_FAILURE: u16 = u16::MAX;

/// Stands for no status; HTTP has none below 100.
const NO_STATUS: u16 = 0;

/// Fills the place of a stream that is none.
const NO_STREAM: StreamRow = StreamRow { stamps: [0; 4], texts: 0, tokens_out: 0 };

/// The rows as bytes.
pub(super) fn to_bytes(rows: &[ExchangeRow]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW_BYTES);
    for row in rows {
        let failure = row.failure.map_or(NO_FAILURE, |reason| reason as u16);
        let Stamps { intended, taken, connect, tls, stream_wait, window_wait, .. } = row.stamps;
        let Stamps { sent, first_byte, last_byte, .. } = row.stamps;
        bytes.extend(row.request.to_le_bytes());
        bytes.push(row.measured.into());
        bytes.extend(failure.to_le_bytes());
        bytes.extend(row.status.unwrap_or(NO_STATUS).to_le_bytes());
        let opening = [intended, taken, connect, tls, stream_wait, window_wait];
        for stamp in opening.into_iter().chain([sent, first_byte, last_byte]) {
            bytes.extend(stamp.to_le_bytes());
        }
        bytes.push(row.stream.is_some().into());
        let StreamRow { stamps: [first, text, last, end], texts, tokens_out } =
            row.stream.unwrap_or(NO_STREAM);
        for number in [first, text, last, end, texts, tokens_out] {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes
}

/// Reads rows; the message says why the bytes are none.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<ExchangeRow>, String> {
    if !bytes.len().is_multiple_of(ROW_BYTES) {
        return Err(format!("{} bytes are no whole number of rows", bytes.len()));
    }
    bytes.chunks_exact(ROW_BYTES).map(row).collect()
}

fn row(mut bytes: &[u8]) -> Result<ExchangeRow, String> {
    let request = u32::from_le_bytes(take(&mut bytes));
    let [measured] = take(&mut bytes);
    let failure = u16::from_le_bytes(take(&mut bytes));
    let status = u16::from_le_bytes(take(&mut bytes));
    let mut stamp = || Nanos::from_le_bytes(take(&mut bytes));
    // In the order in which they were written.
    let stamps = Stamps {
        intended: stamp(),
        taken: stamp(),
        connect: stamp(),
        tls: stamp(),
        stream_wait: stamp(),
        window_wait: stamp(),
        sent: stamp(),
        first_byte: stamp(),
        last_byte: stamp(),
    };
    let [is_stream] = take(&mut bytes);
    let mut number = || u64::from_le_bytes(take(&mut bytes));
    let stream = StreamRow {
        stamps: [number(), number(), number(), number()],
        texts: number(),
        tokens_out: number(),
    };
    let stream = (is_stream != 0).then_some(stream);
    let known = Reason::ALL.get(usize::from(failure)).copied();
    if known.is_none() && failure != NO_FAILURE {
        return Err(format!("reason {failure} is unknown"));
    }
    let status = (status != NO_STATUS).then_some(status);
    Ok(ExchangeRow { request, measured: measured != 0, stamps, failure: known, status, stream })
}

/// The next `N` bytes; a whole row is there.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    if let Some((first, rest)) = bytes.split_at_checked(N) {
        taken.copy_from_slice(first);
        *bytes = rest;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_kind_come_out_as_they_went_in() {
        let stamps = Stamps { sent: 3, last_byte: 1 << 50, ..Stamps::new(1, 2) };
        let stream = Some(StreamRow { stamps: [1, 2, 3, 4], texts: 5, tokens_out: u64::MAX });
        let (request, status) = (7, Some(200));
        let accepted =
            ExchangeRow { request, measured: true, stamps, failure: None, status, stream };
        let failed = Reason::ALL.iter().map(|reason| ExchangeRow {
            measured: false,
            failure: Some(*reason),
            status: None,
            stream: None,
            ..accepted
        });
        let rows: Vec<_> = failed.chain([accepted]).collect();
        assert_eq!(from_bytes(&to_bytes(&rows)), Ok(rows));
    }

    #[test]
    fn bytes_that_are_no_rows_are_refused() {
        let row = ExchangeRow {
            request: 0,
            measured: true,
            stamps: Stamps::new(0, 0),
            failure: None,
            status: None,
            stream: None,
        };
        let mut bytes = to_bytes(&[row]);
        assert!(from_bytes(&bytes[1..]).unwrap_err().contains("no whole number of rows"));
        bytes[5] = 0xf0;
        assert!(from_bytes(&bytes).unwrap_err().contains("is unknown"));
    }
}
