//! Sheets of Locust's processes: any bytes are read or refused, and a sheet that was read is
//! written and read back.

#![no_main]

use engine::Sheet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(sheet) = Sheet::from_bytes(data) else { return };
    let again = Sheet::from_bytes(&sheet.to_bytes()).expect("a sheet that was read can be written");
    assert_eq!(again.is_empty(), sheet.is_empty());
    assert_eq!(again.to_bytes(), sheet.to_bytes());
});
