//! The verifier of `--cacert`, for authorities and for certificates of servers.
//!
//! An authority's certificate (CA:TRUE) cannot be the server's own by the rules that rustls follows,
//! but `openssl req -x509` makes such certificates. One is accepted if it is, byte for byte, a
//! certificate of the user: a chain could not prove more. Name, dates and the signatures of the handshake
//! are checked as for any other.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Accepts certificates that the authorities have signed, and the named certificates themselves.
#[derive(Debug)]
pub(crate) struct TrustNamed {
    chains: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl TrustNamed {
    pub(crate) fn new(
        chains: Arc<WebPkiServerVerifier>,
        named: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self { chains, named }
    }
}

impl ServerCertVerifier for TrustNamed {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chains = &self.chains;
        let verified =
            chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        // Dates are checked before: a certificate that has expired is refused with another error.
        if !verified.as_ref().is_err_and(is_authority_as_server)
            || !self.named.iter().any(|named| named.as_ref() == end_entity.as_ref())
        {
            return verified;
        }
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Returns whether the only fault of a certificate is that it belongs to an authority.
pub(crate) fn is_authority_as_server(problem: &Error) -> bool {
    // rustls has no value for it, so the text of webpki is compared.
    matches!(problem, Error::InvalidCertificate(certificate @ CertificateError::Other(_))
        if format!("{certificate:?}").contains("CaUsedAsEndEntity"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::RootCertStore;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    const NAMED: &[u8] = include_bytes!("../testdata/named.pem");
    const OTHER: &[u8] = include_bytes!("../testdata/other.pem");

    /// The certificates are valid from 2020 to 2120.
    const VALID: u64 = 2_000_000_000;
    const BEFORE: u64 = 1_500_000_000;
    const EXPIRED: u64 = 5_000_000_000;

    /// Returns how a client that trusts one certificate of `named` verifies a server that shows `shown`.
    fn verified(named: &[u8], shown: &[u8], host: &'static str, at: u64) -> Result<(), Error> {
        let read = |pem| CertificateDer::from_pem_slice(pem).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(read(named)).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = TrustNamed::new(chains.build().unwrap(), vec![read(named)]);
        let (host, at) = (ServerName::try_from(host).unwrap(), Duration::from_secs(at));
        let now = UnixTime::since_unix_epoch(at);
        verifier.verify_server_cert(&read(shown), &[], &host, &[], now).map(|_| ())
    }

    #[test]
    fn a_certificate_of_an_authority_is_the_servers_own_where_the_user_has_named_it() {
        assert_eq!(verified(NAMED, NAMED, "localhost", VALID), Ok(()));
        let other = verified(OTHER, NAMED, "localhost", VALID).unwrap_err();
        assert!(is_authority_as_server(&other), "{other:?}");
    }

    #[test]
    fn name_and_dates_of_a_named_certificate_are_checked() {
        let refused = |host, at| match verified(NAMED, NAMED, host, at) {
            Err(Error::InvalidCertificate(certificate)) => certificate,
            other => panic!("{other:?}"),
        };
        use CertificateError::{ExpiredContext, NotValidForNameContext, NotValidYetContext};
        let name = refused("elsewhere.test", VALID);
        assert!(matches!(name, NotValidForNameContext { .. }), "{name:?}");
        let early = refused("localhost", BEFORE);
        assert!(matches!(early, NotValidYetContext { .. }), "{early:?}");
        let late = refused("localhost", EXPIRED);
        assert!(matches!(late, ExpiredContext { .. }), "{late:?}");
    }
}
