//! Server-sent events, read from the whole text at once, line by line, as the standard says.

/// One event: its name and its data; an event without data has only a name.
pub type Read = (Vec<u8>, Option<Vec<u8>>);

/// Every event that a blank line completes, and what is left at the end, if that is an event.
#[must_use]
pub fn events(text: &[u8]) -> (Vec<Read>, Option<Read>) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (mut found, mut event): (Vec<Read>, Read) = Default::default();
    let (lines, rest) = lines(text);
    for line in lines {
        if line.is_empty() {
            let whole = std::mem::take(&mut event);
            found.extend(is_one(&whole).then_some(whole));
        } else {
            add(&mut event, &line);
        }
    }
    if !rest.is_empty() {
        add(&mut event, &rest);
    }
    let left = is_one(&event).then_some(event);
    (found, left)
}

fn is_one((name, data): &Read) -> bool {
    data.is_some() || !name.is_empty()
}

/// The lines that have an end, and what stands behind the last of them.
fn lines(text: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let (mut lines, mut line, mut at) = (Vec::new(), Vec::new(), 0);
    while at < text.len() {
        match &text[at..] {
            [b'\r', b'\n', ..] => {
                lines.push(std::mem::take(&mut line));
                at += 2;
            }
            [b'\r' | b'\n', ..] => {
                lines.push(std::mem::take(&mut line));
                at += 1;
            }
            [byte, ..] => {
                line.push(*byte);
                at += 1;
            }
            [] => break,
        }
    }
    (lines, line)
}

fn add((name, data): &mut Read, line: &[u8]) {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let field = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match field {
        b"event" => *name = value.to_vec(),
        b"data" => match data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => *data = Some(value.to_vec()),
        },
        _ => {}
    }
}
