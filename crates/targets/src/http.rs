//! Serves HTTP/1.1 and HTTP/2 through hyper, for hello, delay and bytes.
//!
//! The first bytes of a connection tell which of the two its client speaks.
//!
//! A request counts when it is read completely; its body is discarded.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;

use crate::body::Body;
use crate::counted::{CountedStream, Ledger};
use crate::counts::ThreadCounts;
use crate::listener::Serve;
use crate::truth::Truth;

/// The responses of a target.
pub(crate) trait Site: Send + Sync + 'static {
    /// Returns content type and body when they are to be sent; called when the request was read.
    fn answer(&self, ledger: &Arc<Ledger>) -> impl Future<Output = (HeaderValue, Body)> + Send;

    /// Returns whether bodies are large enough to be written without a copy.
    fn vectored(&self) -> bool {
        false
    }

    /// Returns the log, if there is one.
    fn truth(&self) -> Option<Arc<Truth>> {
        None
    }
}

/// The service of a site for hyper.
#[derive(Debug)]
pub(crate) struct Http<S>(Arc<S>);

impl<S> Http<S> {
    pub(crate) fn new(site: S) -> Self {
        Http(Arc::new(site))
    }
}

impl<S: Site> Serve for Http<S> {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let site = Arc::clone(&self.0);
        let ledger = Arc::new(Ledger::new(tally, site.truth()));
        let stream = CountedStream::new(stream, Arc::clone(&ledger), site.vectored());
        let service =
            service_fn(move |request| respond(Arc::clone(&site), request, Arc::clone(&ledger)));
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1().auto_date_header(false).header_read_timeout(None);
        http.http2().auto_date_header(false);
        async move {
            let connection = http.serve_connection(stream, service);
            // A client that closes the connection or sends no valid request ends it; the counts show this.
            let _ = connection.await;
        }
    }
}

/// A request without a body counts here, because the returned future is not polled after the client has
/// closed the connection.
fn respond<S: Site>(
    site: Arc<S>,
    request: Request<Incoming>,
    ledger: Arc<Ledger>,
) -> impl Future<Output = hyper::Result<Response<Body>>> + Send {
    let head_only = request.method() == Method::HEAD;
    let body = request.into_body();
    let bodiless = body.is_end_stream();
    if bodiless {
        ledger.read_request();
    }
    async move {
        if !bodiless {
            read_to_end(body).await?;
            ledger.read_request();
        }
        let (content_type, body) = site.answer(&ledger).await;
        Ok(response(content_type, body, head_only))
    }
}

fn response(content_type: HeaderValue, body: Body, head_only: bool) -> Response<Body> {
    let length = body.length();
    let mut response = Response::new(if head_only { body.left_out() } else { body });
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    if let (true, Some(length)) = (head_only, length) {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

async fn read_to_end(mut body: Incoming) -> hyper::Result<()> {
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        frame?;
    }
    Ok(())
}
