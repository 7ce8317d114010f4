//! An exchange over TLS with servers that send what no honest one does, on a simulated network.

use std::io::{Read, Write};
use std::sync::Arc;

use crate::support::{begin, drive};
use client::{
    Connection, Destination, Exchange, ExchangeEvent, ExchangeRequest, Opening, Outcome, Outline,
    Protocol, Reactor, Reason, Scratch, Step, Timeouts,
};
use net::{
    Act, Address, Dial, Driver, Nanos, Peer, Ready, Simulated, SimulatedSocket, TlsClient,
    TlsOptions,
};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ConnectionTrafficSecrets, ServerConfig, ServerConnection, SupportedProtocolVersion};

const CERTIFICATE: &[u8] = include_bytes!("../../../net/testdata/named.pem");
const KEY: &[u8] = include_bytes!("../../../net/testdata/named.key");
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What one read of a load generator takes.
const BUFFER_BYTES: usize = 256 * 1024;

/// A server of one connection.
struct Server {
    session: Option<ServerConnection>,
    /// Empty records sent in place of the response.
    empty_records: usize,
    /// What it sends as soon as the handshake is over.
    greeting: &'static [u8],
    answer: &'static [u8],
}

impl Server {
    /// Shows its certificate so many times, and gives so many tickets.
    fn new(certificates: usize, tickets: usize) -> Self {
        Self::of_versions(rustls::ALL_VERSIONS, certificates, tickets)
    }

    fn of_versions(
        versions: &[&'static SupportedProtocolVersion],
        certificates: usize,
        tickets: usize,
    ) -> Self {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate; certificates], key)
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.enable_secret_extraction = true;
        config.send_tls13_tickets = tickets;
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        Self { session: Some(session), empty_records: 0, greeting: b"", answer: ANSWER }
    }

    fn with_empty_records(mut self, count: usize) -> Self {
        self.empty_records = count;
        self
    }

    fn answer(&mut self, mut cipher: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let Some(session) = &mut self.session else { return out };
        session.set_buffer_limit(None);
        while !cipher.is_empty() && session.read_tls(&mut cipher).unwrap() > 0 {
            if session.process_new_packets().is_err() {
                break;
            }
        }
        if !session.is_handshaking() {
            session.writer().write_all(std::mem::take(&mut self.greeting)).unwrap();
        }
        let mut request = Vec::new();
        let _ = session.reader().read_to_end(&mut request);
        if request == REQUEST && self.empty_records == 0 {
            session.writer().write_all(self.answer).unwrap();
        }
        while session.wants_write() {
            session.write_tls(&mut out).unwrap();
        }
        if request == REQUEST && self.empty_records > 0 {
            let secrets = self.session.take().unwrap().dangerous_extract_secrets().unwrap();
            out.extend(empty_records(secrets.tx, self.empty_records));
        }
        out
    }
}

/// Records of TLS 1.3 without content (RFC 8446, 5.2 to 5.4), from this number on.
fn empty_records((from, secrets): (u64, ConnectionTrafficSecrets), count: usize) -> Vec<u8> {
    let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else {
        panic!("another cipher than rustls prefers")
    };
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).unwrap());
    let mut out = Vec::new();
    for number in from..from + count as u64 {
        let mut nonce: [u8; 12] = iv.as_ref().try_into().unwrap();
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, with)| *byte ^= with);
        // No content, its type, and a tag.
        let header = [0x17, 3, 3, 0, 1 + 16];
        let mut sealed = vec![0x17];
        let nonce = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce, Aad::from(header), &mut sealed).unwrap();
        out.extend(header);
        out.extend(sealed);
    }
    out
}

impl Peer for Server {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(1)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let answer = self.answer(bytes);
        if answer.is_empty() { Vec::new() } else { vec![(1, Act::Bytes(answer))] }
    }
}

struct World {
    driver: Simulated<Server>,
    connection: Connection<SimulatedSocket>,
    exchange: Exchange,
    scratch: Scratch,
    /// Calls that left something to be read for later.
    agains: u32,
}

impl World {
    fn new(server: Server) -> Self {
        Self::with(server, &TlsOptions { insecure: true, ..TlsOptions::default() })
    }

    fn with(server: Server, options: &TlsOptions) -> Self {
        let layer = TlsClient::new("localhost", options).unwrap().session().unwrap();
        let mut driver = Simulated::new(server);
        let to = Address::Ip("127.0.0.1:1".parse().unwrap());
        let socket = driver.dial(&to, None, 0).unwrap();
        let connection = Connection::dialled(socket, Some(layer), None, (&Protocol::Http1, 0), 0);
        let outline = Outline { is_head: false, length: REQUEST.len() };
        let exchange = Exchange::new(0, 0, outline);
        Self { driver, connection, exchange, scratch: Scratch::new(BUFFER_BYTES), agains: 0 }
    }

    /// Returns how the exchange ends, if it does.
    fn end(&mut self) -> Option<Outcome> {
        let mut ready = Vec::<Ready>::new();
        for _ in 0..100 {
            let until = self.driver.now() + 10;
            self.driver.wait(until, &mut ready).unwrap();
            for event in std::mem::take(&mut ready) {
                if !self.connection.is_open() {
                    match self.open(event) {
                        Ok(true) => {
                            let one = (&mut self.exchange, REQUEST);
                            begin(&mut self.driver, &mut self.connection, one, &mut self.scratch);
                        }
                        Ok(false) => continue,
                        Err(reason) => return Some(self.exchange.end(0, reason)),
                    }
                }
                if let Err(outcome) = self.receive(event) {
                    return Some(outcome);
                }
            }
        }
        None
    }

    fn open(&mut self, event: Ready) -> Result<bool, Reason> {
        loop {
            match self.connection.advance(&mut self.driver, event, &mut self.scratch)? {
                Opening::Again => self.agains += 1,
                way => return Ok(way == Opening::Open),
            }
        }
    }

    fn receive(&mut self, event: Ready) -> Result<(), Outcome> {
        loop {
            let (driver, connection) = (&mut self.driver, &mut self.connection);
            let one = (&mut self.exchange, REQUEST);
            match drive(driver, connection, one, &mut self.scratch, event)? {
                Step::Again => self.agains += 1,
                Step::Pending => return Ok(()),
            }
        }
    }
}

/// Why an exchange with that server fails; `None` where it does not.
fn failure(server: Server) -> Option<Reason> {
    match World::new(server).end() {
        Some(outcome) => outcome.failure,
        None => panic!("the exchange does not end"),
    }
}

#[test]
fn a_chain_of_certificates_beyond_32_kib_is_read_and_one_beyond_64_kib_has_a_class() {
    let bytes = CertificateDer::from_pem_slice(CERTIFICATE).unwrap().len();
    assert_eq!(failure(Server::new(1, 2)), None);
    assert_eq!(failure(Server::new(50 * 1024 / bytes, 2)), None);
    // rustls reads no message of a handshake that is longer.
    assert_eq!(failure(Server::new(70 * 1024 / bytes, 2)), Some(Reason::TlsFailed));
    assert_eq!(failure(Server::new(300 * 1024 / bytes, 2)), Some(Reason::TlsFailed));
}

#[test]
fn a_server_may_speak_as_soon_as_the_handshake_is_over() {
    for versions in [&[&rustls::version::TLS12][..], &[&rustls::version::TLS13]] {
        let (greeting, rest) = ANSWER.split_at(9);
        let server = Server { greeting, answer: rest, ..Server::of_versions(versions, 1, 2) };
        assert_eq!(failure(server), None);
    }
}

#[test]
fn a_reactor_reads_a_chain_of_certificates_beyond_32_kib() {
    let bytes = CertificateDer::from_pem_slice(CERTIFICATE).unwrap().len();
    let mut reactor = Reactor::new(Simulated::new(Server::new(50 * 1024 / bytes, 2)));
    let options = TlsOptions { insecure: true, ..TlsOptions::default() };
    let pool = reactor.open(Destination {
        addresses: vec![Address::Ip("127.0.0.1:1".parse().unwrap())],
        tls: Some(TlsClient::new("localhost", &options).unwrap()),
        ..Destination::default()
    });
    reactor.start(&ExchangeRequest {
        pool,
        head: REQUEST,
        body: b"",
        is_head: false,
        streams: false,
        intended: 0,
        timeouts: Timeouts { connect_ns: None, read_ns: None },
    });
    for until in (10..1000).step_by(10) {
        reactor.poll(until, false).unwrap();
    }
    let mut events = reactor.take_events().map(|(_, event)| event);
    let Some(ExchangeEvent::Over(answer)) = events.next() else { panic!("it does not end") };
    assert_eq!((answer.outcome.failure, answer.body.as_slice()), (None, &b"ok"[..]));
}

#[test]
fn a_buffer_that_a_message_fills_is_a_failure_of_tls_and_not_a_close() {
    let bytes = CertificateDer::from_pem_slice(CERTIFICATE).unwrap().len();
    let mut world = World::new(Server::new(50 * 1024 / bytes, 2));
    world.scratch = Scratch::new(64 * 1024);
    let Some(outcome) = world.end() else { panic!("it goes on") };
    assert_eq!(outcome.failure, Some(Reason::TlsFailed));
}

#[test]
fn a_self_signed_certificate_is_accepted_where_it_is_the_one_that_was_named() {
    let end = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../net/testdata");
        let ca = Some(std::path::Path::new(folder).join(name));
        match World::with(Server::new(1, 2), &TlsOptions { ca, ..TlsOptions::default() }).end() {
            Some(outcome) => outcome.failure,
            step => panic!("{step:?}: the exchange does not end"),
        }
    };
    assert_eq!(end("named.pem"), None);
    assert_eq!(end("other.pem"), Some(Reason::TlsAuthorityAsServer));
}

#[test]
fn empty_records_in_a_row_end_an_exchange() {
    let mut world = World::new(Server::new(1, 0).with_empty_records(100_000));
    let Some(outcome) = world.end() else { panic!("it goes on") };
    assert_eq!((outcome.failure, outcome.reusable), (Some(Reason::TlsFailed), false));
    assert_eq!(world.agains, 0);
    // A few are legal.
    let mut world = World::new(Server::new(1, 0).with_empty_records(20));
    assert_eq!(world.end(), None);
}

#[test]
fn tickets_without_end_end_an_exchange() {
    // In records that cut messages apart, so that no message can be forgotten before the last.
    assert_eq!(failure(Server::new(1, 5_000)), Some(Reason::TlsFailed));
    assert_eq!(failure(Server::new(1, 100)), None);
}
