//! Frames between processes: any bytes are read or refused, and their rows are read back the same.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| engine::fuzzing::read_frames(data));
