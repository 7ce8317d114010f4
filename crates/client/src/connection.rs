//! One connection: dialling, perhaps a handshake, then bytes both ways.

use std::io;

use net::{Driver, Layer, LayerError, LayerFault, Nanos, Ready};

use crate::{Reason, Tunnel, UNSET};

/// So much is sealed at once: what does not fit into the socket would only lie in memory.
const SEALED_AT_ONCE: usize = 64 * 1024;

/// Reads that bring nothing for the exchange, made in one go before other connections get their turn.
const READS_IN_A_ROW: u32 = 4;

/// How far the way to an open connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Not there yet: a new event of the socket is needed.
    Pending,
    /// Not there yet, and there may be more to read, which no event will say: another call, soon.
    Again,
    /// Bytes may be written.
    Open,
}

/// A socket with what lies between it and the exchange.
pub struct Connection<S> {
    socket: S,
    layer: Option<Box<dyn Layer>>,
    /// The way through a proxy, while it is being asked for.
    tunnel: Option<Box<Tunnel>>,
    /// When TCP was established, and the way through a proxy, if there is one.
    connected_at: Nanos,
    /// Whether the latest read left nothing in the socket.
    is_drained: bool,
    /// Answers that this connection has brought.
    pub served: u32,
}

impl<S> Connection<S> {
    /// A connection whose dial has just been started.
    pub fn dialled(socket: S, layer: Option<Box<dyn Layer>>) -> Self {
        Self { socket, layer, tunnel: None, connected_at: UNSET, is_drained: false, served: 0 }
    }

    /// The same, but through a proxy.
    #[must_use]
    pub fn through(mut self, tunnel: Option<Tunnel>) -> Self {
        self.tunnel = tunnel.map(Box::new);
        self
    }

    /// Whether requests may be written.
    pub fn is_open(&self) -> bool {
        self.is_connected() && self.layer.as_ref().is_none_or(|layer| layer.is_open())
    }

    /// Whether TCP is established (the handshake of a layer may still be under way).
    pub fn is_connected(&self) -> bool {
        self.connected_at != UNSET
    }

    /// When TCP was established; [`UNSET`] before.
    pub fn connected_at(&self) -> Nanos {
        self.connected_at
    }

    /// What a connection that is not open yet waits for, as the reason of a timeout.
    pub fn overdue(&self) -> Option<Reason> {
        match (self.is_open(), self.is_connected()) {
            (true, _) => None,
            (false, true) => Some(Reason::TimeoutTls),
            (false, false) => Some(Reason::TimeoutConnect),
        }
    }

    /// Whether nothing lies between the exchange and the socket.
    pub fn is_plain(&self) -> bool {
        self.layer.is_none()
    }

    /// Whether the latest read left nothing: what comes next will raise an event.
    pub fn is_drained(&self) -> bool {
        self.is_drained && !self.layer.as_ref().is_some_and(|layer| layer.is_ended())
    }

    /// Moves a connection that is not open yet; `buffer` is scratch space.
    pub fn advance<D: Driver<Socket = S>>(
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
            let way = match &mut self.tunnel {
                Some(tunnel) if ready.writable || ready.readable => {
                    tunnel.advance(driver, &self.socket)?
                }
                None if ready.writable => Opening::Open,
                _ => Opening::Pending,
            };
            if way != Opening::Open {
                return Ok(way);
            }
            self.tunnel = None;
            self.connected_at = driver.now();
        }
        if self.is_open() { Ok(Opening::Open) } else { self.shake_hands(driver, buffer) }
    }

    /// Writes what fits; `WouldBlock` when nothing does.
    pub fn send<D: Driver<Socket = S>>(
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

    /// Sends ciphertext that waits; true when none is left.
    pub fn flush<D: Driver<Socket = S>>(&mut self, driver: &mut D) -> io::Result<bool> {
        let Some(layer) = &mut self.layer else {
            return Ok(true);
        };
        match flush(driver, &self.socket, layer.as_mut()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says goodbye, where a layer has a word for that; dropping the connection closes it.
    pub fn end<D: Driver<Socket = S>>(&mut self, driver: &mut D) {
        if let Some(layer) = self.layer.as_mut().filter(|layer| layer.is_open()) {
            layer.end();
            let _ = flush(driver, &self.socket, layer.as_mut());
        }
    }

    /// Reads what is there; 0 is the end of the stream, `WouldBlock` that nothing is there,
    /// `Interrupted` that there may be more behind much that was nothing for the exchange.
    pub fn recv<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let Some(layer) = &mut self.layer else {
            let read = driver.recv(&self.socket, buffer);
            self.is_drained = read.as_ref().is_ok_and(|length| *length < buffer.len());
            return read;
        };
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

    /// How many bytes, as they came, wait in the socket to be read.
    pub fn unread<D: Driver<Socket = S>>(&self, driver: &D) -> u64 {
        driver.unread(&self.socket)
    }

    /// Throws away up to `scratch.len()` body bytes in the kernel; plain connections only.
    pub fn discard<D: Driver<Socket = S>>(
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
                // Tell the other side why, as far as it goes.
                let _ = flush(driver, &self.socket, layer.as_mut());
                return Err(fault.into());
            }
            if opened.is_ok_and(|length| length > 0) {
                // Nothing was asked yet.
                return Err(LayerFault::Failed.into());
            }
        }
        Ok(Opening::Again)
    }
}

/// A secure layer reads ciphertext into the one half and puts plaintext into the other, the first.
fn halves(buffer: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let middle = buffer.len().div_ceil(2);
    buffer.split_at_mut(middle)
}

/// What has come fills the buffer, and the layer can do nothing with it.
fn no_room() -> LayerError {
    let text = "a message of the secure layer is longer than the buffer".into();
    LayerError { fault: LayerFault::Failed, text }
}

/// Sends what fits; a full socket is no failure.
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
