//! A socket, and the layers between it and the protocol session: a proxy tunnel, TLS.

use std::io;

use net::{Alpn, Driver, Layer, LayerError, LayerFault, Nanos, Ready};

use crate::{Opening, Reason, Tunnel, UNSET};

/// Bytes that are encrypted at once. What does not fit into the socket would only occupy memory.
const SEALED_AT_ONCE: usize = 64 * 1024;

/// Bytes that are discarded at once before the socket is closed, and how often at most.
const DRAINED_AT_ONCE: usize = 32 * 1024;
const MAX_DRAINS: u32 = 32;

/// Reads without plaintext in one call, before other connections get their turn.
const READS_IN_A_ROW: u32 = 4;

/// A socket, and the layers between it and the protocol session.
pub(crate) struct ByteChannel<S> {
    socket: S,
    layer: Option<Box<dyn Layer>>,
    /// The tunnel through a proxy, while it is being opened.
    tunnel: Option<Box<Tunnel>>,
    /// The time at which TCP, and the tunnel through a proxy if there is one, was established.
    connected_at: Nanos,
    /// Whether the latest read left nothing in the socket.
    is_drained: bool,
    /// Plaintext that came with the end of the handshake.
    early: Vec<u8>,
}

impl<S> ByteChannel<S> {
    /// Creates a channel whose dial has just been started.
    pub(crate) fn new(socket: S, layer: Option<Box<dyn Layer>>, tunnel: Option<Tunnel>) -> Self {
        let tunnel = tunnel.map(Box::new);
        Self { socket, layer, tunnel, connected_at: UNSET, is_drained: false, early: Vec::new() }
    }

    /// Returns whether plaintext may be written.
    pub(crate) fn is_open(&self) -> bool {
        self.is_connected() && self.layer.as_ref().is_none_or(|layer| layer.is_open())
    }

    /// Returns whether TCP is established; the handshake of a layer may still be under way.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected_at != UNSET
    }

    /// Returns when TCP was established; [`UNSET`] before.
    pub(crate) fn connected_at(&self) -> Nanos {
        self.connected_at
    }

    /// Returns whether there is no layer between the session and the socket.
    pub(crate) fn is_plain(&self) -> bool {
        self.layer.is_none()
    }

    /// Returns whether the server may speak HTTP/2 on it: without a layer, nothing says that it does not.
    pub(crate) fn may_be_http2(&self) -> bool {
        self.is_plain() || self.chosen_protocol() == Some(Alpn::HTTP2)
    }

    /// Returns the protocol that the other side has chosen in the handshake of the layer, if it has.
    pub(crate) fn chosen_protocol(&self) -> Option<&[u8]> {
        self.layer.as_ref()?.protocol()
    }

    /// Returns whether the latest read left nothing, so that the next bytes raise an event.
    pub(crate) fn is_drained(&self) -> bool {
        self.is_drained && !self.is_ended()
    }

    /// Returns whether the layer has received the announcement of its end.
    pub(crate) fn is_ended(&self) -> bool {
        self.layer.as_ref().is_some_and(|layer| layer.is_ended())
    }

    /// Continues to open the channel; `buffer` is scratch space.
    pub(crate) fn advance<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        ready: Ready,
        buffer: &mut [u8],
    ) -> Result<Opening, Reason> {
        if !self.is_connected() {
            if ready.closed
                && let Some(error) = driver.error(&self.socket)
            {
                return Err(Reason::of_dial(&error));
            }
            let opening = match &mut self.tunnel {
                Some(tunnel) if ready.writable || ready.readable => {
                    tunnel.advance(driver, &self.socket)?
                }
                None if ready.writable => Opening::Open,
                _ => Opening::Pending,
            };
            if opening != Opening::Open {
                return Ok(opening);
            }
            self.tunnel = None;
            self.connected_at = driver.now();
        }
        if self.is_open() { Ok(Opening::Open) } else { self.shake_hands(driver, buffer) }
    }

    /// Writes as much as the socket accepts; `WouldBlock` if that is nothing.
    pub(crate) fn send<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        bytes: &[u8],
    ) -> io::Result<usize> {
        let Some(layer) = &mut self.layer else {
            return driver.send(&self.socket, bytes);
        };
        flush(driver, &self.socket, layer.as_mut())?;
        let piece = &bytes[..bytes.len().min(SEALED_AT_ONCE)];
        layer.seal(piece).map_err(io::Error::other)?;
        match flush(driver, &self.socket, layer.as_mut()) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(piece.len()),
        }
    }

    /// Returns whether the socket has accepted all bytes that were sent.
    pub(crate) fn is_flushed(&mut self) -> bool {
        self.layer.as_mut().is_none_or(|layer| layer.outgoing().is_empty())
    }

    /// Sends waiting ciphertext; returns whether none is left.
    pub(crate) fn flush<D: Driver<Socket = S>>(&mut self, driver: &mut D) -> io::Result<bool> {
        let Some(layer) = &mut self.layer else {
            return Ok(true);
        };
        match flush(driver, &self.socket, layer.as_mut()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Announces the end, if the layer has a message for it. Dropping the channel closes the socket.
    pub(crate) fn close<D: Driver<Socket = S>>(&mut self, driver: &mut D) {
        if let Some(layer) = self.layer.as_mut().filter(|layer| layer.is_open()) {
            layer.end();
            let _ = flush(driver, &self.socket, layer.as_mut());
        }
    }

    /// Discards what was received and not read. Otherwise the kernel would reset the connection when it is
    /// closed, and the other side might lose the last bytes that were sent to it.
    pub(crate) fn drain<D: Driver<Socket = S>>(&mut self, driver: &mut D) {
        let mut scratch = [0; DRAINED_AT_ONCE];
        for _ in 0..MAX_DRAINS {
            let read = driver.discard(&self.socket, &mut scratch);
            if read.map_or(true, |length| length < scratch.len()) {
                return;
            }
        }
    }

    /// Reads plaintext. 0 is the end of the stream. `WouldBlock` means that nothing was received,
    /// `Interrupted` that more may follow after many records without plaintext.
    pub(crate) fn recv<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let Some(layer) = &mut self.layer else {
            let read = driver.recv(&self.socket, buffer);
            self.is_drained = read.as_ref().is_ok_and(|length| *length < buffer.len());
            return read;
        };
        if !self.early.is_empty() {
            let length = self.early.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.early[..length]);
            self.early.drain(..length);
            self.is_drained = false;
            return Ok(length);
        }
        let (plain, cipher) = halves(buffer);
        for _ in 0..READS_IN_A_ROW {
            if layer.is_ended() {
                return Ok(0);
            }
            let kept = layer.restore(cipher);
            if kept == cipher.len() {
                return Err(io::Error::other(no_room()));
            }
            let length = driver.recv(&self.socket, &mut cipher[kept..])?;
            if length == 0 {
                return Ok(0);
            }
            self.is_drained = kept + length < cipher.len();
            let opened = layer.open(&mut cipher[..kept + length], plain);
            let length = opened.map_err(io::Error::other)?;
            if length > 0 {
                return Ok(length);
            }
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    /// Returns the number of unread bytes in the socket, as they were received.
    pub(crate) fn unread<D: Driver<Socket = S>>(&self, driver: &D) -> u64 {
        driver.unread(&self.socket) + self.early.len() as u64
    }

    /// Discards up to `scratch.len()` bytes in the kernel; only for channels without a layer.
    pub(crate) fn discard<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        scratch: &mut [u8],
    ) -> io::Result<usize> {
        let read = driver.discard(&self.socket, scratch);
        self.is_drained = read.as_ref().is_ok_and(|length| *length < scratch.len());
        read
    }

    fn shake_hands<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        buffer: &mut [u8],
    ) -> Result<Opening, Reason> {
        let (plain, cipher) = halves(buffer);
        let Some(layer) = &mut self.layer else { return Ok(Opening::Open) };
        for _ in 0..READS_IN_A_ROW {
            if layer.is_open() {
                send_waiting(driver, &self.socket, layer.as_mut())?;
                return Ok(Opening::Open);
            }
            send_waiting(driver, &self.socket, layer.as_mut())?;
            let kept = layer.restore(cipher);
            if kept == cipher.len() {
                return Err(no_room().fault.into());
            }
            let length = match driver.recv(&self.socket, &mut cipher[kept..]) {
                Ok(0) => return Err(Reason::TlsClosed),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Opening::Pending);
                }
                Err(_) => return Err(Reason::TlsClosed),
            };
            let opened = layer.open(&mut cipher[..kept + length], plain);
            if let Err(LayerError { fault, .. }) = opened {
                // Send the alert of TLS to the target, if the socket accepts it.
                let _ = flush(driver, &self.socket, layer.as_mut());
                return Err(fault.into());
            }
            // HTTP/2 lets a server send its settings at once.
            self.early.extend_from_slice(&plain[..opened.unwrap_or(0)]);
        }
        Ok(Opening::Again)
    }
}

/// Splits the buffer: the layer puts plaintext into the first half, and reads ciphertext into the second.
fn halves(buffer: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let middle = buffer.len().div_ceil(2);
    buffer.split_at_mut(middle)
}

/// Returns the error of a message that fills the buffer and is not complete.
fn no_room() -> LayerError {
    let text = "a message of the secure layer is longer than the buffer".into();
    LayerError { fault: LayerFault::Failed, text }
}

/// Sends as much ciphertext as the socket accepts; a full socket is no failure.
fn send_waiting<D: Driver>(
    driver: &mut D,
    socket: &D::Socket,
    layer: &mut dyn Layer,
) -> Result<(), Reason> {
    match flush(driver, socket, layer) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(Reason::TlsClosed),
        _ => Ok(()),
    }
}

fn flush<D: Driver>(driver: &mut D, socket: &D::Socket, layer: &mut dyn Layer) -> io::Result<()> {
    while !layer.outgoing().is_empty() {
        let sent = driver.send(socket, layer.outgoing())?;
        layer.outgoing().drain(..sent);
    }
    Ok(())
}
