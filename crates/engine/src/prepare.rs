//! From a plan to what workers need: request bytes and addresses, made once before the run.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::{Nanos, TlsClient, TlsOptions};
use wire::{Request, RequestParts};

use crate::plan::{Plan, RequestPlan, Source, Tls, Transport};

/// A request ready to be sent.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its row in every table.
    pub name: String,
    /// What is written.
    pub request: Request,
    /// Where connections for it go, in turn.
    pub addresses: Vec<SocketAddr>,
    /// What its connections speak, if that is TLS.
    pub tls: Option<TlsClient>,
    /// From taken to the last byte.
    pub timeout_ns: Nanos,
    accept: Vec<(u16, u16)>,
}

impl Prepared {
    /// Whether a status counts as ok.
    #[must_use]
    pub fn accepts(&self, status: u16) -> bool {
        self.accept.iter().any(|(low, high)| (*low..=*high).contains(&status))
    }
}

/// Prepares the request of each group, in their order; the message names what is wrong.
pub fn prepare(plan: &Plan) -> Result<Vec<Prepared>, String> {
    let requests = plan.groups.iter().map(|group| match &group.source {
        Source::One { request } => request,
    });
    check_sources(&plan.transport.source_addresses)?;
    requests.map(|request| prepare_one(request, &plan.transport)).collect()
}

/// Refuses addresses that are not this machine's: nothing could leave from there.
fn check_sources(addresses: &[IpAddr]) -> Result<(), String> {
    addresses.iter().try_for_each(|address| {
        let bound = UdpSocket::bind((*address, 0));
        bound.map(drop).map_err(|error| format!("source address {address}: {error}"))
    })
}

fn prepare_one(plan: &RequestPlan, transport: &Transport) -> Result<Prepared, String> {
    let uri: http::Uri =
        plan.url.parse().map_err(|error| format!("URL {:?}: {error}", plan.url))?;
    let is_secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(format!("URL {:?}: only http:// and https:// can be fired at", plan.url)),
    };
    let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else {
        return Err(format!("URL {:?}: has no host", plan.url));
    };
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let addresses = net::resolve(host, port)
        .map_err(|error| format!("URL {:?}: cannot resolve {host:?}: {error}", plan.url))?;
    let body = plan.body.as_ref().map(|text| STANDARD.decode(text)).transpose();
    let body = body.map_err(|error| format!("body: {error}"))?;
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    // A query may stand right behind the host, but not in a request line.
    let target = if target.starts_with('?') { format!("/{target}") } else { target.to_owned() };
    let request = Request::encode(&RequestParts {
        method: &plan.method,
        target: &target,
        host: without_userinfo(authority.as_str()),
        headers: &plan.headers,
        body: body.as_deref(),
        keepalive: transport.keepalive,
    });
    let tls = is_secure.then(|| TlsClient::new(host, &options(&transport.tls))).transpose()?;
    Ok(Prepared {
        name: plan.name.clone(),
        request: request.map_err(|error| error.to_string())?,
        addresses,
        tls,
        timeout_ns: plan.timeout_ns,
        accept: plan.accept_statuses.clone(),
    })
}

fn options(tls: &Tls) -> TlsOptions {
    let identity = tls.certificate.as_ref().map(|certificate| {
        let key = tls.key.as_ref().unwrap_or(certificate);
        (certificate.clone(), key.clone())
    });
    let (insecure, ca, resumption) = (tls.insecure, tls.ca.clone(), tls.resumption);
    TlsOptions { insecure, ca, identity, resumption }
}

fn without_userinfo(authority: &str) -> &str {
    authority.rsplit('@').next().unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pace;
    use crate::plan::tests::plan;

    fn prepared(change: impl FnOnce(&mut RequestPlan)) -> Result<Prepared, String> {
        let mut plan = plan(Pace::Closed { users: 1 });
        let Source::One { request } = &mut plan.groups[0].source;
        change(request);
        prepare(&plan).map(|mut all| all.remove(0))
    }

    #[test]
    fn writes_host_path_and_body_of_the_plan() {
        let one = prepared(|request| {
            request.url = "http://user:secret@127.0.0.1:8080?q=1".into();
            request.method = "POST".into();
            request.body = Some("aGk=".into());
        })
        .unwrap();
        let text = String::from_utf8_lossy(&one.request.bytes).into_owned();
        assert_eq!(
            text,
            "POST /?q=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\nhi"
        );
        assert_eq!(one.addresses, ["127.0.0.1:8080".parse().unwrap()]);
    }

    #[test]
    fn accepts_the_statuses_of_the_plan() {
        let one =
            prepared(|request| request.accept_statuses = vec![(200, 299), (404, 404)]).unwrap();
        assert_eq!(
            [200, 299, 300, 404].map(|status| one.accepts(status)),
            [true, true, false, true]
        );
    }

    #[test]
    fn names_what_cannot_be_sent() {
        let table = [("http://", "URL"), ("ftp://h/", "only http"), ("nope", "only http")];
        for (url, message) in table {
            let error = prepared(|request| request.url = url.into()).unwrap_err();
            assert!(error.contains(message) && error.contains(url), "{error}");
        }
        assert!(prepared(|request| request.headers = vec![("A".into(), "b\nc".into())]).is_err());
    }
}
