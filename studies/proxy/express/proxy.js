// A proxy: /proxy/PATH is /PATH of $BACKEND, over connections that are kept open. Bodies and answers
// pass through as they come: a body parser would swallow them. 502 when the backend is not there.
//
//   PORT=8002 BACKEND=http://127.0.0.1:8001 LOG=1 node proxy.js
"use strict";

const http = require("node:http");
const { pipeline } = require("node:stream");
const express = require("express");
const { serve, log } = require("./serving");

const PREFIX = "/proxy";
// Headers of one connection, which are not passed on; the host is the backend's.
const OWN = new Set(["connection", "host", "keep-alive", "proxy-connection", "te", "trailer",
  "transfer-encoding", "upgrade"]);

const backend = new URL(process.env.BACKEND);
// As many connections to the backend as requests are in flight: Node's own default, and Go's.
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity });
const app = express();
log(app);
app.all(`${PREFIX}/*path`, forward);
serve(app);

function forward(request, response) {
  const asked = http.request(
    {
      agent,
      hostname: backend.hostname,
      port: backend.port,
      method: request.method,
      path: request.originalUrl.slice(PREFIX.length),
      headers: passedOn(request.headers),
    },
    (answer) => {
      response.writeHead(answer.statusCode, passedOn(answer.headers));
      pipeline(answer, response, () => {});
    },
  );
  asked.on("error", () => refuse(response));
  response.on("close", () => response.writableFinished || asked.destroy());
  request.pipe(asked);
}

function refuse(response) {
  if (response.headersSent) response.destroy();
  else response.status(502).type("text/plain").send("the backend does not answer");
}

function passedOn(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));
}
