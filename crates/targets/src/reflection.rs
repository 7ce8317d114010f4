//! Server reflection of gRPC: clients ask which services there are, and how their messages look.
//!
//! Requests and responses are `ServerReflectionRequest` and `ServerReflectionResponse`, of which only the
//! fields that are needed here are read and written.

/// The methods of both versions, whose messages are the same.
pub(crate) const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The description of `proto/echo.proto`, as a `FileDescriptorProto`.
const FILE: &[u8] = include_bytes!("../proto/echo.bin");
const FILE_NAME: &[u8] = b"echo.proto";
const SERVICE: &[u8] = b"torr.Echo";

/// The status of what is not found.
const NOT_FOUND: u64 = 5;

/// Fields of a request.
const FILE_BY_NAME: u64 = 3;
const FILE_OF_SYMBOL: u64 = 4;
const LIST_SERVICES: u64 = 7;

/// Fields of a response.
const ORIGINAL_REQUEST: u64 = 2;
const FILES: u64 = 4;
const SERVICES: u64 = 6;
const ERROR: u64 = 7;

/// Returns the response to a request.
pub(crate) fn answer(request: &[u8]) -> Vec<u8> {
    let mut response = Vec::new();
    put(ORIGINAL_REQUEST, request, &mut response);
    let file = || field(1, FILE);
    let is_own = |name: &[u8]| name == SERVICE || name.starts_with(b"torr.E");
    let (number, content) = match asked(request) {
        Some((LIST_SERVICES, _)) => (SERVICES, field(1, &field(1, SERVICE))),
        Some((FILE_BY_NAME, FILE_NAME)) => (FILES, file()),
        Some((FILE_OF_SYMBOL, name)) if is_own(name) => (FILES, file()),
        _ => {
            let mut error = Vec::new();
            put_number(1, NOT_FOUND, &mut error);
            put(2, b"this server has torr.Echo only", &mut error);
            (ERROR, error)
        }
    };
    put(number, &content, &mut response);
    response
}

/// Returns the number and the text of the last field that asks for something.
fn asked(mut request: &[u8]) -> Option<(u64, &[u8])> {
    let mut found = None;
    while !request.is_empty() {
        let key = take_number(&mut request)?;
        match key & 7 {
            0 => _ = take_number(&mut request)?,
            2 => {
                let length = usize::try_from(take_number(&mut request)?).ok()?;
                let (text, rest) = request.split_at_checked(length)?;
                request = rest;
                if key >> 3 >= FILE_BY_NAME {
                    found = Some((key >> 3, text));
                }
            }
            _ => return found,
        }
    }
    found
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn field(number: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(number, content, &mut out);
    out
}

fn put(number: u64, content: &[u8], out: &mut Vec<u8>) {
    write_number(number << 3 | 2, out);
    write_number(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn put_number(number: u64, value: u64, out: &mut Vec<u8>) {
    write_number(number << 3, out);
    write_number(value, out);
}

fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_and_the_file_of_a_name_are_described() {
        let list = answer(&field(LIST_SERVICES, b"*"));
        assert!(list.ends_with(&field(SERVICES, &field(1, &field(1, SERVICE)))));
        for request in [
            field(FILE_OF_SYMBOL, b"torr.Echo"),
            field(FILE_OF_SYMBOL, b"torr.EchoMessage"),
            field(FILE_BY_NAME, FILE_NAME),
            [field(1, b"host"), field(FILE_BY_NAME, FILE_NAME)].concat(),
        ] {
            let found = answer(&request);
            assert!(found.starts_with(&field(ORIGINAL_REQUEST, &request)));
            assert!(found.ends_with(&field(FILES, &field(1, FILE))));
        }
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        for request in
            [field(FILE_OF_SYMBOL, b"other.Service"), Vec::new(), vec![0xff; 3], vec![13]]
        {
            let found = answer(&request);
            assert_eq!(asked(&found).map(|(number, _)| number), Some(ERROR), "{request:?}");
        }
    }
}
