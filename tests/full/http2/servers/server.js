// Node's http2 module. It answers / with 200 and all other paths with 404, and prints at its end how
// many of each it has answered.
//
//   node server.js PORT                     without TLS
//   node server.js PORT CERTIFICATE KEY     with TLS
const fs = require("node:fs");
const http2 = require("node:http2");

const [port, certificate, key] = process.argv.slice(2);
const counts = { "2xx": 0, "4xx": 0 };

const server = certificate
  ? http2.createSecureServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) })
  : http2.createServer();

server.on("stream", (stream, headers) => {
  if (headers[":path"] === "/") {
    counts["2xx"] += 1;
    stream.respond({ ":status": 200 });
    stream.end("hello");
  } else {
    counts["4xx"] += 1;
    stream.respond({ ":status": 404 }, { endStream: true });
  }
});

process.on("SIGTERM", () => {
  console.log(JSON.stringify(counts));
  process.exit(0);
});

server.listen(Number(port), "127.0.0.1");
