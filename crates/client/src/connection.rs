//! One connection: dialling, perhaps a handshake, then bytes both ways.

use std::io;

use net::{Driver, Ready};

use crate::{Layer, LayerError, Reason};

/// How far the way to an open connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Not there yet.
    Pending,
    /// Bytes may be written.
    Open,
}

/// A socket with what lies between it and the exchange.
pub struct Connection<S> {
    socket: S,
    layer: Option<Box<dyn Layer>>,
    connected: bool,
    /// Answers that this connection has brought.
    pub served: u32,
}

impl<S> Connection<S> {
    /// A connection whose dial has just been started.
    pub fn dialled(socket: S, layer: Option<Box<dyn Layer>>) -> Self {
        Self { socket, layer, connected: false, served: 0 }
    }

    /// Whether requests may be written.
    pub fn is_open(&self) -> bool {
        self.connected && self.layer.as_ref().is_none_or(|layer| layer.is_open())
    }

    /// Whether TCP is established (the handshake of a layer may still be under way).
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Whether a read shorter than its buffer means that the socket is empty.
    pub fn is_plain(&self) -> bool {
        self.layer.is_none()
    }

    /// Moves a connection that is not open yet; `buffer` is scratch space.
    pub fn advance<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        ready: Ready,
        buffer: &mut [u8],
    ) -> Result<Opening, Reason> {
        if !self.connected {
            if ready.closed
                && let Some(error) = driver.error(&self.socket)
            {
                return Err(Reason::of_dial(&error));
            }
            self.connected = ready.writable;
        }
        if self.connected && !self.is_open() {
            self.shake_hands(driver, buffer).map_err(|_| Reason::TlsFailed)?;
        }
        Ok(if self.is_open() { Opening::Open } else { Opening::Pending })
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
        let taken = layer.write(bytes);
        match flush(driver, &self.socket, layer.as_mut()) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
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

    /// Reads what is there; 0 is the end of the stream, `WouldBlock` that nothing is there.
    pub fn recv<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let Some(layer) = &mut self.layer else {
            return driver.recv(&self.socket, buffer);
        };
        loop {
            let length = layer.read(buffer);
            if length > 0 {
                return Ok(length);
            }
            let length = driver.recv(&self.socket, buffer)?;
            if length == 0 {
                return Ok(0);
            }
            layer.take_in(&buffer[..length]).map_err(io::Error::other)?;
        }
    }

    /// Throws away up to `scratch.len()` body bytes in the kernel; plain connections only.
    pub fn discard<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        scratch: &mut [u8],
    ) -> io::Result<usize> {
        driver.discard(&self.socket, scratch)
    }

    fn shake_hands<D: Driver<Socket = S>>(
        &mut self,
        driver: &mut D,
        buffer: &mut [u8],
    ) -> Result<(), LayerError> {
        let words = |error: io::Error| LayerError(error.to_string());
        while !self.is_open() {
            self.flush(driver).map_err(words)?;
            let length = match driver.recv(&self.socket, buffer) {
                Ok(0) => return Err(LayerError("closed in the handshake".into())),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(words(error)),
            };
            if let Some(layer) = &mut self.layer {
                layer.take_in(&buffer[..length])?;
            }
        }
        self.flush(driver).map(|_| ()).map_err(words)
    }
}

fn flush<D: Driver>(driver: &mut D, socket: &D::Socket, layer: &mut dyn Layer) -> io::Result<()> {
    while !layer.outgoing().is_empty() {
        let sent = driver.send(socket, layer.outgoing())?;
        layer.outgoing().drain(..sent);
    }
    Ok(())
}
