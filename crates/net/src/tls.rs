//! TLS by rustls, without a socket: the configuration of a run, and one session per connection.
//!
//! Records are decrypted in the buffer that all connections of a worker share; a session keeps only an
//! incomplete record.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::{
    ClientConnectionData, Resumption, UnbufferedClientConnection, WebPkiServerVerifier,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic,
};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, InvalidMessage, RootCertStore,
};

use crate::layer::{Layer, LayerError, LayerFault};
use crate::tls_insecure::TrustAnyone;
use crate::tls_trust::{TrustNamed, is_authority_as_server};

#[cfg(test)]
mod tests;

/// The maximum number of sessions to resume, over all connections of one worker.
const SESSIONS: usize = 256;

/// The maximum size of a record beyond its plaintext: header, nonce, type and tag.
const RECORD_OVERHEAD: usize = 64;
const RECORD_BYTES: usize = 16 * 1024;

/// The options of a user for TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Accept any certificate.
    pub insecure: bool,
    /// A PEM file of the certificates to trust instead of the machine's.
    pub ca: Option<PathBuf>,
    /// PEM files of the client's certificate chain and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether connections resume sessions of earlier ones.
    pub resumption: bool,
    /// The protocol that is asked for (ALPN).
    pub protocol: Alpn,
}

/// The protocol that a client asks for in the handshake (ALPN).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Alpn {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2.
    Http2,
    /// HTTP/2 if the server has it, or HTTP/1.1.
    Either,
}

impl Alpn {
    /// The name of HTTP/2 in the handshake.
    pub const HTTP2: &[u8] = b"h2";
    const HTTP1: &[u8] = b"http/1.1";

    fn names(self) -> Vec<Vec<u8>> {
        let names: &[&[u8]] = match self {
            Self::Http1 => &[Self::HTTP1],
            Self::Http2 => &[Self::HTTP2],
            Self::Either => &[Self::HTTP2, Self::HTTP1],
        };
        names.iter().map(|name| name.to_vec()).collect()
    }
}

/// The TLS client for one host name.
#[derive(Debug, Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    resumption: bool,
}

impl TlsClient {
    /// Reads the certificates; the error names the file that is wrong.
    pub fn new(host: &str, options: &TlsOptions) -> Result<Self, String> {
        // An IPv6 address has brackets in a URL.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|_| format!("{host:?} is no name that a certificate can be for"))?;
        let resumption = options.resumption;
        Ok(Self { config: Arc::new(config(options)?), name, resumption })
    }

    /// Returns a client with its own resumable sessions: workers that share them would wait for each other.
    #[must_use]
    pub fn apart(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = resumption(self.resumption);
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// Creates a session whose first message is ready to be sent.
    pub fn session(&self) -> Result<Box<dyn Layer>, LayerError> {
        let connection =
            UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone());
        let mut session = TlsSession {
            connection: connection.map_err(error)?,
            outgoing: Vec::new(),
            kept: Vec::new(),
            is_open: false,
            is_ended: false,
        };
        session.open(&mut [], &mut [])?;
        Ok(Box::new(session))
    }
}

fn config(options: &TlsOptions) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let builder = if options.insecure {
        let verifier = Arc::new(TrustAnyone::new(provider));
        builder.dangerous().with_custom_certificate_verifier(verifier)
    } else if let Some(path) = &options.ca {
        let verifier = Arc::new(trust(path, provider)?);
        builder.dangerous().with_custom_certificate_verifier(verifier)
    } else {
        builder.with_root_certificates(machine_roots()?)
    };
    let mut config = match &options.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| format!("{} and {}: {error}", certificate.display(), key.display()))?,
    };
    config.alpn_protocols = options.protocol.names();
    config.resumption = resumption(options.resumption);
    Ok(config)
}

fn resumption(is_wanted: bool) -> Resumption {
    if is_wanted { Resumption::in_memory_sessions(SESSIONS) } else { Resumption::disabled() }
}

fn machine_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs().certs;
    // The list of a machine may have outdated certificates that cannot be read.
    match roots.add_parsable_certificates(found) {
        (0, _) => {
            Err("this machine has no list of trusted certificates: give --cacert or --insecure"
                .into())
        }
        _ => Ok(roots),
    }
}

/// Returns the verifier for the certificates of a user.
fn trust(path: &Path, provider: Arc<CryptoProvider>) -> Result<TrustNamed, String> {
    let named = certificates(path)?;
    let mut roots = RootCertStore::empty();
    if roots.add_parsable_certificates(named.iter().cloned()).0 == 0 {
        return Err(format!("{}: no certificate that can be trusted", path.display()));
    }
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    let chains = chains.build().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(TrustNamed::new(chains, named))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let name = path.display();
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(format!("{name}: no certificate in it (PEM)")),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let name = path.display();
    PrivateKeyDer::from_pem_file(path).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => {
            format!("{name}: no private key in it (PEM): give --key")
        }
        other => format!("{name}: {other}"),
    })
}

/// The TLS session of a connection.
struct TlsSession {
    connection: UnbufferedClientConnection,
    outgoing: Vec<u8>,
    /// The beginning of an incomplete record.
    kept: Vec<u8>,
    is_open: bool,
    is_ended: bool,
}

/// The result of a step of the state machine.
enum TlsTurn {
    /// There may be more.
    Again,
    /// More bytes are needed, or nothing is left to do.
    Rest,
}

impl Layer for TlsSession {
    fn is_open(&self) -> bool {
        self.is_open
    }

    fn protocol(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn restore(&mut self, cipher: &mut [u8]) -> usize {
        cipher[..self.kept.len()].copy_from_slice(&self.kept);
        self.kept.len()
    }

    fn open(&mut self, cipher: &mut [u8], plain: &mut [u8]) -> Result<usize, LayerError> {
        let (mut used, mut filled) = (0, 0);
        self.kept.clear();
        loop {
            let status = self.connection.process_tls_records(&mut cipher[used..]);
            let UnbufferedStatus { discard, state } = status;
            let state = state.map_err(error)?;
            if matches!(state, ConnectionState::WriteTraffic(_)) {
                self.is_open = true;
            }
            self.is_ended |= matches!(state, ConnectionState::PeerClosed | ConnectionState::Closed);
            let turn = match state {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let payload = record.map_err(error)?.payload;
                        plain[filled..filled + payload.len()].copy_from_slice(payload);
                        filled += payload.len();
                    }
                    TlsTurn::Again
                }
                other => answer(other, &mut self.outgoing)?,
            };
            used += discard;
            if matches!(turn, TlsTurn::Rest) {
                break;
            }
        }
        self.kept.extend_from_slice(&cipher[used..]);
        Ok(filled)
    }

    fn seal(&mut self, plain: &[u8]) -> Result<(), LayerError> {
        let records = plain.len() / RECORD_BYTES + 1;
        let room = plain.len() + records * RECORD_OVERHEAD;
        self.write(room, |traffic, out| traffic.encrypt(plain, out))
    }

    fn end(&mut self) {
        if self.is_open {
            // If the end cannot be announced, the connection is closed without it.
            let _ = self.write(RECORD_OVERHEAD, |traffic, out| traffic.queue_close_notify(out));
        }
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }
}

impl TlsSession {
    /// Writes into at most `room` bytes, once the state allows it.
    fn write(
        &mut self,
        room: usize,
        what: impl FnOnce(
            &mut WriteTraffic<'_, ClientConnectionData>,
            &mut [u8],
        ) -> Result<usize, EncryptError>,
    ) -> Result<(), LayerError> {
        let Self { connection, outgoing, kept, .. } = self;
        loop {
            let UnbufferedStatus { discard, state } = connection.process_tls_records(kept);
            match state.map_err(error)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let from = outgoing.len();
                    outgoing.resize(from + room, 0);
                    let written = what(&mut traffic, &mut outgoing[from..]);
                    let length = written.map_err(|problem| broken(problem.to_string()))?;
                    outgoing.truncate(from + length);
                    kept.drain(..discard);
                    return Ok(());
                }
                ConnectionState::BlockedHandshake | ConnectionState::Closed => {
                    return Err(broken("not open for writing".into()));
                }
                other => {
                    answer(other, outgoing)?;
                }
            }
            kept.drain(..discard);
        }
    }
}

/// Performs the step that a state needs, except those for user data.
fn answer(
    state: ConnectionState<'_, '_, ClientConnectionData>,
    outgoing: &mut Vec<u8>,
) -> Result<TlsTurn, LayerError> {
    match state {
        ConnectionState::EncodeTlsData(mut message) => {
            let from = outgoing.len();
            while let Err(problem) = message.encode(&mut outgoing[from..]) {
                let EncodeError::InsufficientSize(size) = problem else {
                    return Err(broken(problem.to_string()));
                };
                outgoing.resize(from + size.required_size, 0);
            }
            Ok(TlsTurn::Again)
        }
        // Bytes in `outgoing` are sent before any others.
        ConnectionState::TransmitTlsData(message) => {
            message.done();
            Ok(TlsTurn::Again)
        }
        ConnectionState::PeerClosed => Ok(TlsTurn::Again),
        ConnectionState::BlockedHandshake
        | ConnectionState::WriteTraffic(_)
        | ConnectionState::Closed => Ok(TlsTurn::Rest),
        _ => Err(broken("an unknown state of TLS".into())),
    }
}

fn broken(text: String) -> LayerError {
    LayerError { fault: LayerFault::Failed, text }
}

/// Returns the class of an error of rustls.
#[allow(clippy::needless_pass_by_value)] // It is what `map_err` gives.
fn error(problem: Error) -> LayerError {
    use CertificateError as Certificate;
    let fault = match &problem {
        Error::InvalidCertificate(certificate) => match certificate {
            Certificate::Expired | Certificate::ExpiredContext { .. } => LayerFault::Expired,
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                LayerFault::NotYetValid
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                LayerFault::WrongHost
            }
            Certificate::UnknownIssuer => LayerFault::UnknownIssuer,
            _ if is_authority_as_server(&problem) => LayerFault::AuthorityAsServer,
            _ => LayerFault::BadCertificate,
        },
        Error::InvalidMessage(InvalidMessage::CertificatePayloadTooLarge) => {
            LayerFault::BadCertificate
        }
        Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge) => LayerFault::Failed,
        Error::NoCertificatesPresented => LayerFault::BadCertificate,
        Error::AlertReceived(
            AlertDescription::HandshakeFailure
            | AlertDescription::ProtocolVersion
            | AlertDescription::InsufficientSecurity
            | AlertDescription::NoApplicationProtocol,
        )
        | Error::PeerIncompatible(_)
        | Error::NoApplicationProtocol => LayerFault::NothingInCommon,
        Error::AlertReceived(_) => LayerFault::Refused,
        Error::InvalidMessage(_) => LayerFault::NotTls,
        _ => LayerFault::Failed,
    };
    LayerError { fault, text: problem.to_string() }
}
