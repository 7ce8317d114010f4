//! Prepared requests: bytes or a template, and the checks of the answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{Exchange, Outline, Reason};
use net::Nanos;
use wire::{Request, RequestParts, Template};

use super::endpoint::EndpointKey;
use super::observe::Observer;
use super::rows::Rows;
use super::stream_observer::StreamObserver;
use super::variables::Variable;
use crate::plan::{Limit, RequestPlan, Transport};

/// A prepared request.
#[derive(Debug, Clone)]
pub struct PreparedRequest {
    /// Its name in logs.
    pub name: String,
    /// The number of its row in every table.
    pub row: u16,
    /// The number of its endpoint.
    pub endpoint: u16,
    /// From taken to the last byte.
    pub timeout_ns: Nanos,
    pub(crate) text: RequestText,
    pub(crate) observer: Option<Observer>,
    pub(crate) stream: Option<StreamObserver>,
    pub(crate) limits: Vec<Limit>,
    is_head: bool,
    accept: Vec<(u16, u16)>,
}

/// The bytes of a request.
#[derive(Debug, Clone)]
pub(crate) enum RequestText {
    /// The same bytes for every request.
    Fixed(Box<[u8]>),
    /// A template, which is filled for every request.
    Joined(Template, Vec<Variable>),
}

/// The context of a request: the data and captures of its group, the transport of the plan.
pub(super) struct RequestContext<'a> {
    pub(super) transport: &'a Transport,
    pub(super) rows: Option<&'a Rows>,
    pub(super) captures: &'a [String],
}

impl PreparedRequest {
    pub(super) fn new(
        plan: &RequestPlan,
        endpoint: u16,
        context: &RequestContext<'_>,
    ) -> Result<Self, String> {
        let (key, authority, target) = EndpointKey::of(plan)?;
        let body = plan.body.as_ref().map(|text| STANDARD.decode(text)).transpose();
        let body = body.map_err(|error| format!("body: {error}"))?;
        let (mut headers, mut full_target) = (plan.headers.clone(), target);
        if key.is_absolute(context.transport) {
            full_target = format!("http://{authority}{full_target}");
            let proxy = context.transport.proxy.as_ref();
            let value = proxy.and_then(|proxy| proxy.authorization.clone());
            headers.extend(value.map(|value| ("Proxy-Authorization".to_owned(), value)));
        }
        let has_coding =
            |(name, _): &(String, String)| name.eq_ignore_ascii_case("accept-encoding");
        if plan.compressed && !headers.iter().any(has_coding) {
            headers.push(("accept-encoding".into(), "gzip, deflate".into()));
        }
        if plan.stream.is_some() && !headers.iter().any(has_coding) {
            headers.push(("accept-encoding".into(), "identity".into()));
        }
        let parts = RequestParts {
            method: &plan.method,
            target: &full_target,
            host: &authority,
            headers: &headers,
            body: body.as_deref(),
            keepalive: context.transport.keepalive,
        };
        let text = if plan.template { joined(&parts, context) } else { fixed(&parts) };
        Ok(Self {
            name: plan.name.clone(),
            row: 0,
            endpoint,
            timeout_ns: plan.timeout_ns,
            text: text.map_err(|error| format!("request {:?}: {error}", plan.name))?,
            observer: Observer::new(plan, context.captures)?,
            stream: plan
                .stream
                .as_ref()
                .map(|stream| StreamObserver::new(stream, &plan.captures, context.captures)),
            limits: plan.limits.clone(),
            is_head: plan.method == "HEAD",
            accept: plan.accept_statuses.clone(),
        })
    }

    /// Returns whether a status counts as ok.
    #[must_use]
    pub fn accepts(&self, status: u16) -> bool {
        self.accept.iter().any(|(low, high)| (*low..=*high).contains(&status))
    }

    /// Returns whether bodies are checked, which takes the longer the larger they are.
    #[inline]
    pub(crate) fn checks_bodies(&self) -> bool {
        self.observer.is_some()
    }

    /// Checks a complete answer, and writes captured values into `values`. Adds the size of the checked
    /// body to `checked_bytes`.
    #[inline]
    pub(crate) fn judge(
        &self,
        status: Option<u16>,
        exchange: &mut Exchange,
        values: &mut [Vec<u8>],
        checked_bytes: &mut usize,
    ) -> Result<(), Reason> {
        if !status.is_some_and(|status| self.accepts(status)) {
            return Err(Reason::Status);
        }
        if let Some(stream) = &self.stream {
            stream.judge(exchange).map_or(Ok(()), Err)?;
            stream.capture(exchange, values);
        }
        self.observer
            .as_ref()
            .map_or(Ok(()), |observer| observer.look(exchange, values, checked_bytes))
    }

    /// Returns until when the next event of a stream must come; a stream that has not begun counts as
    /// begun at `unbegun`.
    pub(crate) fn still_until(&self, exchange: &Exchange, unbegun: Nanos) -> Nanos {
        let idle_ns = self.stream.as_ref().and_then(|stream| stream.idle_timeout_ns);
        exchange.last_read().unwrap_or(unbegun).saturating_add(idle_ns.unwrap_or(Nanos::MAX))
    }

    /// Returns whether the body of an answer is stored until it is complete.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.observer.is_some() || self.stream.is_some()
    }

    /// Prepares an exchange so that it stores what [`PreparedRequest::judge`] needs.
    #[inline]
    pub(crate) fn ask(&self, exchange: &mut Exchange) {
        match &self.stream {
            Some(stream) => stream.ask(exchange),
            None => exchange.watch = None,
        }
        match &self.observer {
            Some(_) => _ = exchange.body.get_or_insert_default(),
            None => exchange.body = None,
        }
        let needs_head = self.observer.as_ref().is_some_and(Observer::needs_head);
        exchange.keeps_head = needs_head || self.stream.is_some();
    }

    /// Returns the bytes to send; `joined` has those of a filled template.
    #[inline]
    pub(crate) fn bytes<'a>(&'a self, joined: &'a [u8]) -> &'a [u8] {
        match &self.text {
            RequestText::Fixed(bytes) => bytes,
            RequestText::Joined(..) => joined,
        }
    }

    /// Returns the outline for the exchange; `joined` as in `bytes`.
    #[inline]
    pub(crate) fn outline(&self, joined: &[u8]) -> Outline {
        Outline { is_head: self.is_head, length: self.bytes(joined).len() }
    }

    /// Returns whether it is a template.
    pub(crate) fn is_joined(&self) -> bool {
        matches!(self.text, RequestText::Joined(..))
    }
}

fn fixed(parts: &RequestParts<'_>) -> Result<RequestText, String> {
    let request = Request::encode(parts).map_err(|error| error.to_string())?;
    Ok(RequestText::Fixed(request.bytes))
}

fn joined(parts: &RequestParts<'_>, context: &RequestContext<'_>) -> Result<RequestText, String> {
    let mut variables = Vec::new();
    let template = Template::compile(parts, &mut |name| {
        variables.push(Variable::read(name, context.rows, context.captures)?);
        u16::try_from(variables.len() - 1).map_err(|_| "has too many places".to_owned())
    });
    let template = template.map_err(|error| error.to_string())?;
    Ok(RequestText::Joined(template, variables))
}
