// One GET over and over: as many users as it is told, or at a constant rate.
import http from 'k6/http';

const rate = Number(__ENV.RATE || 0);
const users = Number(__ENV.USERS);
const duration = `${__ENV.SECONDS}s`;

export const options = {
  discardResponseBodies: true,
  insecureSkipTLSVerify: true,
  scenarios: {
    load: rate
      ? { executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration, preAllocatedVUs: users }
      : { executor: 'constant-vus', vus: users, duration, gracefulStop: '1s' },
  },
};

export default function () {
  http.get(__ENV.URL);
}

export function handleSummary(data) {
  const { http_reqs: all, http_req_failed: failed } = data.metrics;
  const said = {
    requests: all.values.count,
    failed: failed.values.passes,
    seconds: data.state.testRunDurationMs / 1000,
  };
  return { stdout: JSON.stringify(said) };
}
