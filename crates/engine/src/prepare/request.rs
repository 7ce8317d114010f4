//! Prepared requests: bytes or a template, and the checks of the response.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{Exchange, MessageSending, Outline, Reason};
use net::Nanos;
use wire::grpc::GRPC_STATUS;
use wire::{EncodedRequest, GrpcPart, Http1Options, RequestParts, RequestTemplate, TemplateText};

use super::endpoint::EndpointKey;
use super::observe::Observer;
use super::rows::Rows;
use super::stream_observer::StreamObserver;
use super::variables::Variable;
use crate::plan::{GrpcPlan, Limit, MessagePart, Remember, RequestPlan, Sending, Transport};

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
    /// What its session remembers of it.
    pub(crate) remembered: Option<Remembered>,
    grpc: Option<GrpcObserver>,
    is_head: bool,
    accept: Vec<(u16, u16)>,
}

/// What a call of gRPC needs.
#[derive(Debug, Clone, Copy)]
struct GrpcObserver {
    sending: MessageSending,
    has_response_stream: bool,
}

/// A text that a session remembers of a request.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    /// The index of the value that grows.
    pub(crate) value: usize,
    pub(crate) text: EncodedRequest,
    pub(crate) variables: Vec<Variable>,
}

impl Remembered {
    fn new(plan: &Remember, context: &RequestContext<'_>) -> Result<Self, String> {
        let mut variables = Vec::new();
        let place = &mut |name: &str| {
            variables.push(Variable::read(name, context.rows, context.captures)?);
            u16::try_from(variables.len() - 1).map_err(|_| "has too many places".to_owned())
        };
        let text = TemplateText::unescaped(plan.text.as_bytes(), place);
        let text = EncodedRequest::of_text(&text.map_err(|error| error.to_string())?);
        let value = context.captures.iter().position(|name| *name == plan.name);
        Ok(Self { value: value.unwrap_or_default(), text, variables })
    }
}

/// The bytes of a request.
#[derive(Debug, Clone)]
pub(crate) enum RequestText {
    /// The same bytes for every request.
    Fixed(Box<[u8]>),
    /// A template, which is filled for every request.
    Joined(EncodedRequest, Vec<Variable>),
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
        let (key, authority, target) = EndpointKey::of(plan, context.transport)?;
        let body = plan.body.as_ref().map(|text| STANDARD.decode(text)).transpose();
        let body = body.map_err(|error| format!("body: {error}"))?;
        let mut fields = plan.headers.clone();
        let is_absolute = key.is_absolute(context.transport);
        if is_absolute {
            let proxy = context.transport.proxy.as_ref();
            let value = proxy.and_then(|proxy| proxy.authorization.clone());
            fields.extend(value.map(|value| ("Proxy-Authorization".to_owned(), value)));
        }
        let has_coding =
            |(name, _): &(String, String)| name.eq_ignore_ascii_case("accept-encoding");
        if plan.compressed && !fields.iter().any(has_coding) {
            fields.push(("accept-encoding".into(), "gzip, deflate".into()));
        }
        let is_event_stream = plan.stream.is_some() && plan.grpc.is_none();
        if is_event_stream && !fields.iter().any(has_coding) {
            fields.push(("accept-encoding".into(), "identity".into()));
        }
        let parts = RequestParts {
            method: &plan.method,
            scheme: if key.is_secure { "https" } else { "http" },
            authority: &authority,
            target: &target,
            fields: &fields,
            body: body.as_deref(),
        };
        let options = Http1Options { keepalive: context.transport.keepalive, is_absolute };
        let text = encode(&parts, plan, context, |template| key.protocol.encode(template, options));
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
            remembered: plan
                .remember
                .as_ref()
                .map(|plan| Remembered::new(plan, context))
                .transpose()?,
            grpc: plan.grpc.as_ref().map(GrpcObserver::of),
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

    /// Checks a complete response, and writes captured values into `values`. Adds the size of the checked
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
        if let Some(grpc) = &self.grpc {
            let call = exchange.grpc_call.as_ref();
            let status = exchange.field_of_call(GRPC_STATUS);
            let fault = call.and_then(|call| call.fault(status, grpc.has_response_stream));
            fault.map_or(Ok(()), Err)?;
        }
        if let Some(stream) = &self.stream {
            stream.judge(exchange).map_or(Ok(()), Err)?;
            stream.capture(exchange, values);
        }
        self.observer
            .as_ref()
            .map_or(Ok(()), |observer| observer.check(exchange, values, checked_bytes))
    }

    /// Returns until when the next event of a stream must come; a stream that has not begun counts as
    /// begun at `unbegun`.
    pub(crate) fn still_until(&self, exchange: &Exchange, unbegun: Nanos) -> Nanos {
        let idle_ns = self.stream.as_ref().and_then(|stream| stream.idle_timeout_ns);
        exchange.last_read().unwrap_or(unbegun).saturating_add(idle_ns.unwrap_or(Nanos::MAX))
    }

    /// Returns whether the body of a response is stored until it is complete.
    pub(crate) fn keeps_answers(&self) -> bool {
        self.observer.is_some() || self.stream.is_some()
    }

    /// Prepares an exchange so that it stores what [`PreparedRequest::judge`] needs.
    #[inline]
    pub(crate) fn set_up(&self, exchange: &mut Exchange) {
        match &self.stream {
            Some(stream) => stream.set_up(exchange),
            None => exchange.stream_reader = None,
        }
        match &self.observer {
            Some(_) => _ = exchange.body.get_or_insert_default(),
            None => exchange.body = None,
        }
        match &self.grpc {
            Some(grpc) => {
                let call = exchange.grpc_call.get_or_insert_default();
                call.restart(grpc.sending, grpc.has_response_stream);
            }
            None => exchange.grpc_call = None,
        }
        let needs_head = self.observer.as_ref().is_some_and(Observer::needs_head);
        exchange.keeps_head = needs_head || self.stream.is_some() || self.grpc.is_some();
    }

    /// Returns whether something is measured within its responses, as they are received.
    pub(crate) fn is_measured_inside(&self) -> bool {
        let is_together = self.grpc.is_none_or(|grpc| grpc.sending == MessageSending::Together);
        self.stream.is_some() || !is_together
    }

    /// Returns how long after each other the messages of its calls are sent, if they are.
    pub(crate) fn message_interval(&self) -> Option<Nanos> {
        match self.grpc?.sending {
            MessageSending::Paced(interval) => Some(interval),
            _ => None,
        }
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

impl GrpcObserver {
    fn of(plan: &GrpcPlan) -> Self {
        let sending = match plan.sending {
            Sending::Together => MessageSending::Together,
            Sending::Alternate => MessageSending::Alternate,
            Sending::Paced { interval_ns } => MessageSending::Paced(interval_ns),
        };
        Self { sending, has_response_stream: plan.response_stream }
    }
}

fn grpc_part(part: &MessagePart) -> Result<GrpcPart, String> {
    Ok(match part {
        MessagePart::Bytes { base64 } => {
            let bytes = STANDARD.decode(base64).map_err(|error| format!("message: {error}"))?;
            GrpcPart::Bytes(bytes)
        }
        MessagePart::Text { text } => GrpcPart::Text(text.clone()),
        MessagePart::Number { text, encoding } => GrpcPart::Number(text.clone(), *encoding),
        MessagePart::Nested { parts } => {
            GrpcPart::Nested(parts.iter().map(grpc_part).collect::<Result<_, _>>()?)
        }
    })
}

/// Encodes a request; one without places has the same bytes for every exchange.
fn encode(
    parts: &RequestParts<'_>,
    plan: &RequestPlan,
    context: &RequestContext<'_>,
    encode: impl FnOnce(&RequestTemplate) -> EncodedRequest,
) -> Result<RequestText, String> {
    let mut variables = Vec::new();
    let messages = plan.grpc.as_ref().and_then(|grpc| grpc.messages.as_deref());
    let mut template = if plan.template || messages.is_some() {
        let place = &mut |name: &str| {
            variables.push(Variable::read(name, context.rows, context.captures)?);
            u16::try_from(variables.len() - 1).map_err(|_| "has too many places".to_owned())
        };
        // Messages may have bytes that look like places.
        let body = parts.body.filter(|_| plan.grpc.is_none());
        let mut template = RequestTemplate::read(&RequestParts { body, ..*parts }, place)
            .map_err(|error| error.to_string())?;
        if let (Some(body), None) = (parts.body, body) {
            template.set_body(body);
        }
        if let Some(messages) = messages {
            let read = |parts: &Vec<MessagePart>| parts.iter().map(grpc_part).collect();
            let parts = messages.iter().map(read).collect::<Result<Vec<_>, String>>()?;
            template.set_messages(&parts, place).map_err(|error| error.to_string())?;
        }
        template
    } else {
        RequestTemplate::plain(parts).map_err(|error| error.to_string())?
    };
    for (place, encoding) in template.numbers() {
        let variable = &variables[usize::from(place)];
        variable.check_numbers(context.rows, |text| encoding.write(text, &mut Vec::new()))?;
    }
    if plan.grpc.is_some() {
        template.leave_out_length();
    }
    let encoded = encode(&template);
    Ok(encoded.fixed().map_or(RequestText::Joined(encoded, variables), RequestText::Fixed))
}
