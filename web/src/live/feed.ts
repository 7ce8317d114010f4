// Events of a run as they come, and the way to stop it. A lost connection is taken up again: by the
// browser, which says the last event that it had, and by this where the browser gives up.

import type { LiveEvent } from "./state";

const NAMES = ["run", "interval", "progress", "end"] as const;
const RETRY_MS = 1000;

/** `refused` is a page that torr does not know: its run is over, and another has its port. */
export type Link = "open" | "lost" | "refused";

/** The events of a run, each once, from `open` until its end. */
export class Feed {
  private source: EventSource | null = null;
  private isOver = false;
  private isLeaving = false;
  private readonly eventIds = new EventIds();

  constructor(
    private readonly onEvent: (event: LiveEvent) => void,
    private readonly link: (link: Link) => void,
  ) {
    // A browser that leaves the page closes what it reads, which is no loss.
    addEventListener("beforeunload", () => {
      this.isLeaving = true;
    });
  }

  /** Listen. */
  open(): void {
    this.source?.close();
    const source = new EventSource("events");
    this.source = source;
    source.addEventListener("open", () => {
      this.link("open");
    });
    source.addEventListener("error", () => {
      // Closed by anything but events, as by a refusal; else the browser comes again by itself.
      if (this.isLeaving) return;
      if (source.readyState === EventSource.CLOSED) void this.reconnect();
      else this.link("lost");
    });
    for (const name of NAMES) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        this.receive(name, event);
      });
    }
  }

  /** Ask for the end of the run; whether torr took it. */
  async stop(token: string): Promise<boolean> {
    // A browser keeps few connections to an address, which open pages may all have taken.
    this.source?.close();
    const wasAccepted = await isAccepted(token);
    if (!this.isOver) this.open();
    return wasAccepted;
  }

  private receive(name: (typeof NAMES)[number], event: MessageEvent<string>): void {
    // Progress is of the moment, and has no id of its own.
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

/** Ids so far: `mark-number`, where another mark is another run's. */
export class EventIds {
  private runMark = "";
  private number = -1;

  /** Whether an event is behind all that came; then it has come. */
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

/** An EventSource does not say by which status it was closed. */
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
