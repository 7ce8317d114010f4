// A mock AI backend: GET and POST /api/data give a small JSON answer, after DELAY_MS.
//
//   PORT=8001 DELAY_MS=500 LOG=1 node backend.js
"use strict";

const express = require("express");
const { serve, log } = require("./serving");

const delay = Number(process.env.DELAY_MS || 0);
const app = express();
log(app);
app.use(express.json());

function answer(request, response) {
  const send = () => response.json({ answer: "The backend has thought about it." });
  if (delay > 0) setTimeout(send, delay);
  else send();
}

app.get("/api/data", answer);
app.post("/api/data", answer);
serve(app);
