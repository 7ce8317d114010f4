// What opens when somebody looks: the answers of failures, the environment, the command, the JSON.

import { button, download, el } from "../dom";
import type { Block, Level, List, Result, Sample, View } from "../model";
import { pick, say } from "../words";
import { copier } from "./table";

/** A part that opens; what is in it is made when it does. */
export function folded(
  id: string,
  title: string,
  fill: () => (Node | null)[],
  open: Set<string>,
): HTMLElement {
  const made = el("details", { "data-id": id }, el("summary", {}, title));
  let isFilled = false;
  const ensure = () => {
    if (!isFilled) made.append(...fill().filter((node): node is Node => node !== null));
    isFilled = true;
  };
  made.addEventListener("toggle", () => {
    if (made.open) open.add(id);
    else open.delete(id);
    if (made.open) ensure();
  });
  if (open.has(id)) {
    ensure();
    made.open = true;
  }
  return made;
}

/** What the samples of a result are: what servers answered, or what functions raised. */
export function samplesTitle(kind: string): string {
  return say(kind === "micro" ? "details.raised" : "details.samples");
}

/** What was kept of failures, one a class and level. */
export function samples(levels: readonly Level[]): HTMLElement[] {
  return levels.flatMap((level) => (level.samples ?? []).map((sample) => sampled(level, sample)));
}

/** A list below its title. */
export function list(found: List, hasTitle = true): HTMLElement {
  const items = found.items.map((item) => el("li", {}, pick(item)));
  return el("section", {}, hasTitle && el("h2", {}, pick(found.title)), el("ul", {}, ...items));
}

/** Text as it is, below its name. */
export function block(found: Block): HTMLElement {
  return el("section", {}, el("h3", {}, found.name), pre(found.text));
}

/** The command that runs it again. */
export function command(view: View): HTMLElement[] {
  return [
    pre(view.command, "command"),
    copier(say("copy.command"), say("details.command"), () => view.command),
  ];
}

/** A value as JSON. */
export function json(value: unknown): HTMLElement {
  return pre(JSON.stringify(value, null, 1));
}

/** The whole result: to copy, to keep, and to read, a line an interval. */
export function raw(result: Result): HTMLElement[] {
  const whole = () => JSON.stringify(result, null, 1);
  const save = button(say("details.save"), () => {
    download(new Blob([whole()], { type: "application/json" }), `${result.name}.json`);
  });
  return [
    el(
      "div",
      { class: "copies" },
      copier(say("copy.as", { what: "JSON" }), result.name, whole),
      save,
    ),
    pre(lines(result)),
  ];
}

/** JSON with one line an interval: one for each number would be most of the page. */
export function lines(result: Result): string {
  const levels = result.levels.map((level) => {
    const { intervals, monitor, ...head } = level;
    const rows = (intervals ?? []).map((interval) => JSON.stringify(interval)).join(",\n");
    const start = JSON.stringify(head, null, 1).replace(/\n\}$/, "");
    return `${start},\n "monitor": ${JSON.stringify(monitor ?? null)},\n "intervals": [\n${rows}\n]}`;
  });
  const start = JSON.stringify({ ...result, levels: undefined }, null, 1).replace(/\n\}$/, "");
  return `${start},\n "levels": [\n${levels.join(",\n")}\n]}`;
}

function sampled(level: Level, sample: Sample): HTMLElement {
  const words = [sample.reason ?? sample.class ?? "", sample.name ?? ""]
    .filter(Boolean)
    .join(" · ");
  const place = say("details.at", { n: level.concurrency });
  const when = sample.t_s == null ? "" : `, ${say("details.second", { s: sample.t_s.toFixed(2) })}`;
  const answer = [sample.head, sample.body].filter(Boolean).join("\n");
  return el(
    "section",
    {},
    el("h3", {}, [words, level.candidate, `${place}${when}`].filter(Boolean).join(" · ")),
    sample.detail ? detailed(sample.detail) : null,
    answer ? pre(answer) : null,
  );
}

/** What was said of it: tracebacks keep their lines. */
function detailed(text: string): HTMLElement {
  return text.includes("\n") ? pre(text) : el("p", {}, text);
}

function pre(text: string, name?: string): HTMLElement {
  return el("pre", { class: name, tabindex: 0 }, text);
}
