// The package ws, which offers permessage-deflate. It answers each message with the same message, and
// prints at its end how many it has answered, and with which codes its clients have closed.
//
//   node server.js PORT                     without TLS
//   node server.js PORT CERTIFICATE KEY     with TLS
const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const { WebSocketServer } = require("ws");

const [port, certificate, key] = process.argv.slice(2);
const counts = { messages: 0, closes: {} };

const server = certificate
  ? https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) })
  : http.createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: true });

sockets.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => {
    counts.messages += 1;
    socket.send(data, { binary: isBinary });
  });
  socket.on("close", (code) => {
    counts.closes[code] = (counts.closes[code] ?? 0) + 1;
  });
  socket.on("error", () => {});
});

process.on("SIGTERM", () => {
  console.log(JSON.stringify(counts));
  process.exit(0);
});

server.listen(Number(port), "127.0.0.1");
