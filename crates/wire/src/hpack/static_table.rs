//! The static table of HPACK (RFC 7541, appendix A).

/// Names and values, the first of which has the index 1.
static FIELDS: [(&str, &str); LENGTH] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The number of its entries: higher indices are those of the dynamic table.
pub(super) const LENGTH: usize = 61;

/// Returns an entry; `None` for 0 and for indices of the dynamic table.
pub(super) fn get(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    let (name, value) = FIELDS.get(index.checked_sub(1)?)?;
    Some((name.as_bytes(), value.as_bytes()))
}

/// Returns the index of an entry with a name, and whether it has the value, too; the best there is.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
    let mut named = None;
    // Entries with one name stand together.
    for (index, (known, its)) in (1..).zip(&FIELDS) {
        if known.as_bytes() != name {
            if named.is_some() {
                break;
            }
        } else if its.as_bytes() == value {
            return Some((index, true));
        } else if named.is_none() {
            named = Some((index, false));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpack::checksum;

    #[test]
    fn entries_are_found_by_index_by_name_and_by_value() {
        assert_eq!(get(0), None);
        assert_eq!(get(8), Some((&b":status"[..], &b"200"[..])));
        assert_eq!(get(LENGTH), Some((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(get(LENGTH + 1), None);
        assert_eq!(find(b":method", b"POST"), Some((3, true)));
        assert_eq!(find(b":method", b"PUT"), Some((2, false)));
        assert_eq!(find(b":path", b"/x"), Some((4, false)));
        assert_eq!(find(b"www-authenticate", b"x"), Some((61, false)));
        assert_eq!(find(b"x-own", b""), None);
    }

    #[test]
    fn entries_are_those_of_the_appendix() {
        // As another implementation has them.
        let all: String = FIELDS.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        assert_eq!(checksum(all.as_bytes()), 0x2fd4_578b_7b5d_1168);
    }
}
