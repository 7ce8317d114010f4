//! Which handshakes take up an earlier session.

use rustls::HandshakeKind::{Full, Resumed};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::*;

fn server() -> Arc<ServerConfig> {
    let certificate =
        CertificateDer::from_pem_slice(include_bytes!("../../testdata/named.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../../testdata/named.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config =
        builder.unwrap().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

fn client(resumption: bool) -> TlsClient {
    let options = TlsOptions { insecure: true, resumption, ..TlsOptions::default() };
    TlsClient::new("localhost", &options).unwrap()
}

/// Opens a connection, and returns the kind of its handshake once the client has its tickets.
fn handshake(client: &TlsClient, server: &Arc<ServerConfig>) -> HandshakeKind {
    let mut session = client.session().unwrap();
    let mut peer = ServerConnection::new(Arc::clone(server)).unwrap();
    while !session.outgoing().is_empty() {
        let sent = std::mem::take(session.outgoing());
        peer.read_tls(&mut sent.as_slice()).unwrap();
        peer.process_new_packets().unwrap();
        let mut cipher = vec![0; 64 * 1024];
        let restored = session.restore(&mut cipher);
        cipher.truncate(restored);
        while peer.wants_write() {
            peer.write_tls(&mut cipher).unwrap();
        }
        session.open(&mut cipher, &mut []).unwrap();
    }
    assert!(session.is_open());
    peer.handshake_kind().unwrap()
}

#[test]
fn a_client_apart_has_its_own_configuration_and_takes_up_no_session_of_the_other() {
    let (server, client) = (server(), client(true));
    let other = client.apart();
    assert!(!Arc::ptr_eq(&client.config, &other.config));
    assert_eq!([&client, &client].map(|client| handshake(client, &server)), [Full, Resumed]);
    assert_eq!([&other, &other].map(|client| handshake(client, &server)), [Full, Resumed]);
    assert_eq!(handshake(&client, &server), Resumed);
}

#[test]
fn a_client_apart_of_one_that_takes_up_no_sessions_takes_up_none() {
    let (server, client) = (server(), client(false).apart());
    assert_eq!([&client, &client].map(|client| handshake(client, &server)), [Full, Full]);
}
