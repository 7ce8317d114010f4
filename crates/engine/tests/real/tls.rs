//! TLS with a server whose certificates need several records.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use engine::{Plan, Tls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{balanced, requests, run};

const CERTIFICATE: &[u8] = include_bytes!("../../../net/testdata/named.pem");
const KEY: &[u8] = include_bytes!("../../../net/testdata/named.key");

/// Starts a server that shows a chain of this size and answers one request.
fn server(chain_bytes: usize) -> SocketAddr {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let count = chain_bytes / certificate.len();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate; count], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(session, listener.accept().unwrap().0);
        // The request is smaller than one record.
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        // Until the client closes.
        let _ = stream.read(&mut [0; 1]);
    });
    address
}

/// One request to a server whose chain of certificates has 50 KiB.
fn plan() -> Plan {
    let mut plan = requests(&format!("https://{}/", server(50 * 1024)), 1, 1);
    plan.transport.tls = Tls { insecure: true, ..Tls::default() };
    plan
}

#[test]
fn one_request_alone_reads_a_chain_of_certificates_beyond_32_kib() {
    let outcome = engine::once(&plan()).unwrap();
    assert_eq!((&outcome["class"], &outcome["detail"]), (&"ok".into(), &"".into()));
}

#[test]
fn a_worker_reads_a_chain_of_certificates_beyond_32_kib() {
    let total = balanced(&run(&plan()));
    assert_eq!((total.ok, Vec::from_iter(total.all_reasons())), (1, Vec::new()));
}
