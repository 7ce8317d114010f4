// Receives the events of a run and requests its stop. After a lost connection the browser
// reconnects with the id of its last event; if the browser gives up, the feed reconnects.

import type { LiveEvent } from "./state";

const NAMES = ["run", "interval", "progress", "end"] as const;
const RETRY_MS = 1000;

/** `refused`: torr does not know this page, because another run now uses the port. */
export type Link = "open" | "lost" | "refused";

/** Delivers each event of a run once, from `open` until the end of the run. */
export class Feed {
  private source: EventSource | null = null;
  private isOver = false;
  private isLeaving = false;
  private readonly eventIds = new EventIds();

  constructor(
    private readonly onEvent: (event: LiveEvent) => void,
    private readonly link: (link: Link) => void,
  ) {
    // A browser closes connections when it leaves the page; that is not a loss.
    addEventListener("beforeunload", () => (this.isLeaving = true));
  }

  /** Open the connection. */
  open(): void {
    this.source?.close();
    const source = new EventSource("events");
    this.source = source;
    source.addEventListener("open", () => this.link("open"));
    source.addEventListener("error", () => {
      // The browser does not reconnect after a response other than events, such as a refusal.
      if (this.isLeaving) return;
      if (source.readyState === EventSource.CLOSED) void this.reconnect();
      else this.link("lost");
    });
    for (const name of NAMES) {
      source.addEventListener(name, (event: MessageEvent<string>) => this.receive(name, event));
    }
  }

  /** Request the stop of the run; return whether torr accepted it. */
  async stop(token: string): Promise<boolean> {
    // Browsers limit connections per address, and open pages may use all of them.
    this.source?.close();
    const wasAccepted = await isAccepted(token);
    if (!this.isOver) this.open();
    return wasAccepted;
  }

  private receive(name: (typeof NAMES)[number], event: MessageEvent<string>): void {
    // Progress events have no id.
    if (name !== "progress" && !this.eventIds.isNew(event.lastEventId)) return;
    if (name === "end") {
      this.isOver = true;
      this.source?.close();
    }
    this.onEvent({ name, data: JSON.parse(event.data) as never });
  }

  private async reconnect(): Promise<void> {
    const refused = await isRefused();
    if (this.isOver) return;
    this.link(refused ? "refused" : "lost");
    if (refused) return;
    setTimeout(() => {
      if (this.source?.readyState === EventSource.CLOSED && !this.isOver) this.open();
    }, RETRY_MS);
  }
}

/** Ids received so far: `mark-number`; each run has another mark. */
export class EventIds {
  private runMark = "";
  private number = -1;

  /** Return whether an event comes after all received ones, and record it. */
  isNew(id: string): boolean {
    const [runMark = "", number = ""] = id.split("-");
    if (runMark === this.runMark && Number(number) <= this.number) return false;
    this.runMark = runMark;
    this.number = Number(number);
    return true;
  }
}

async function isAccepted(token: string): Promise<boolean> {
  try {
    const response = await fetch("stop", { method: "POST", headers: { "X-Torr-Token": token } });
    return response.ok;
  } catch {
    return false;
  }
}

/** Return whether torr refuses the page: an EventSource does not give the status. */
async function isRefused(): Promise<boolean> {
  const controller = new AbortController();
  try {
    const { status } = await fetch("events", { signal: controller.signal });
    return status >= 400 && status < 500;
  } catch {
    return false;
  } finally {
    controller.abort();
  }
}
