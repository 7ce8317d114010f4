//! Reports of Locust's processes: any bytes are read or refused, and a report that was read is written
//! and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use locust::ProcessReport;

fuzz_target!(|data: &[u8]| {
    let Ok(report) = ProcessReport::from_bytes(data) else { return };
    let again = ProcessReport::from_bytes(&report.to_bytes()).expect("a report that was written");
    assert_eq!(again.is_empty(), report.is_empty());
    assert_eq!(again.to_bytes(), report.to_bytes());
});
