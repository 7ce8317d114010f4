// What backend and proxy share: where they listen, and the log of requests and answers.
"use strict";

// Listen at $PORT of the loopback address, 0 for any free one, and say where.
function serve(app) {
  const server = app.listen(Number(process.env.PORT || 0), "127.0.0.1", (error) => {
    if (error) throw error;
    console.log(`listening on http://127.0.0.1:${server.address().port}`);
  });
}

// With LOG=1, a line for each request and one for its answer.
function log(app) {
  if (process.env.LOG !== "1") return;
  app.use((request, response, next) => {
    const began = process.hrtime.bigint();
    const { method, url } = request;
    console.log(`${new Date().toISOString()} > ${method} ${url}`);
    response.on("finish", () => {
      const ms = Number(process.hrtime.bigint() - began) / 1e6;
      console.log(`${new Date().toISOString()} < ${method} ${url} ${response.statusCode} ${ms} ms`);
    });
    next();
  });
}

module.exports = { serve, log };
