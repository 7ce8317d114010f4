//! Names the build by a hash of the sources of all crates, for processes and nodes that must not mix.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&crates, &mut files);
    files.sort();
    let mut hash = FNV_OFFSET;
    for path in &files {
        // The places of the files do not count, so that equal sources make equal builds.
        let name = path.strip_prefix(&crates).unwrap_or(path);
        hash = add(hash, name.to_string_lossy().as_bytes());
        hash = add(hash, &fs::read(path).unwrap_or_default());
    }
    println!("cargo:rerun-if-changed=..");
    println!("cargo:rustc-env=TORR_SOURCES={hash:016x}");
}

/// Collects the Rust files of the crates, but not their tests.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_test = matches!(path.file_name().and_then(|name| name.to_str()), Some("tests"));
        if path.is_dir() && !is_test {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// FNV-1a, 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn add(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
