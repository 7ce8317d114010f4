// Events of a run as they come, and the way to stop it. A lost connection is taken up again by the
// browser, which says the last event that it had, so that none is lost.

import type { LiveEvent } from "./state";

const NAMES = ["run", "slice", "progress", "end"] as const;

/** Listen until the end; `lost` is told when the connection breaks and when it is back. */
export function listen(
  on: (event: LiveEvent) => void,
  lost: (isLost: boolean) => void,
): EventSource {
  const source = new EventSource("events");
  source.addEventListener("open", () => {
    lost(false);
  });
  source.addEventListener("error", () => {
    lost(true);
  });
  for (const name of NAMES) {
    source.addEventListener(name, (event: MessageEvent<string>) => {
      if (name === "end") source.close();
      on({ name, data: JSON.parse(event.data) as never });
    });
  }
  return source;
}

/** Ask for the end of the run; whether torr took it. */
export async function stop(token: string): Promise<boolean> {
  try {
    const answer = await fetch("stop", { method: "POST", headers: { "X-Torr-Token": token } });
    return answer.ok;
  } catch {
    return false;
  }
}
