//! TLS: whatever a server says first, the client opens it or names what is wrong.

#![no_main]

use std::sync::OnceLock;

use fuzz::cuts::cut;
use libfuzzer_sys::fuzz_target;
use net::{TlsClient, TlsOptions};

fuzz_target!(|data: &[u8]| {
    static CLIENT: OnceLock<TlsClient> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        let options = TlsOptions { insecure: true, ..TlsOptions::default() };
        TlsClient::new("localhost", &options).expect("localhost is a name")
    });
    let mut session = client.session().expect("a session needs nothing from outside");
    assert!(!session.outgoing().is_empty(), "the client speaks first");
    let (mut cipher, mut plain) = (vec![0; 2 * data.len()], vec![0; 2 * data.len()]);
    for piece in cut(data) {
        let kept = session.restore(&mut cipher);
        let end = kept + piece.len();
        cipher[kept..end].copy_from_slice(piece);
        match session.open(&mut cipher[..end], &mut plain[..end]) {
            Ok(filled) => assert!(filled == 0 || session.is_open()),
            Err(error) => {
                assert!(!error.text.is_empty());
                return;
            }
        }
        session.outgoing().clear();
    }
    assert!(!session.is_open(), "nobody can finish a handshake without the client's secret");
});
