// Sections that open: samples of failed requests, environment, command, JSON.

import { button, download, el } from "../dom";
import type { Block, Level, List, Result, Sample, View } from "../model";
import { positionOf } from "../data/timeline";
import { localized, translate } from "../translate";
import { copier } from "./table";

/** Return a section that is filled when it is opened first. */
export function folded(
  id: string,
  title: string,
  fill: () => (Node | null)[],
  open: Set<string>,
): HTMLElement {
  const details = el("details", { "data-id": id }, el("summary", {}, title));
  let isFilled = false;
  const ensure = () => {
    if (!isFilled) details.append(...fill().filter((node): node is Node => node !== null));
    isFilled = true;
  };
  details.addEventListener("toggle", () => {
    if (details.open) open.add(id);
    else open.delete(id);
    if (details.open) ensure();
  });
  if (open.has(id)) {
    ensure();
    details.open = true;
  }
  return details;
}

/** Return the title of samples: responses of servers, or exceptions of functions. */
export function samplesTitle(kind: string): string {
  return translate(kind === "micro" ? "details.raised" : "details.samples");
}

/** Return the samples of failed requests. */
export function samples(levels: readonly Level[]): HTMLElement[] {
  return levels.flatMap((level) =>
    (level.samples ?? []).map((sample) => sampleSection(level, sample)),
  );
}

/** Return a list below its title. */
export function list(content: List, hasTitle = true): HTMLElement {
  const items = content.items.map((item) => el("li", {}, localized(item)));
  return el(
    "section",
    {},
    hasTitle && el("h2", {}, localized(content.title)),
    el("ul", {}, ...items),
  );
}

/** Return preformatted text below its name. */
export function block(content: Block): HTMLElement {
  const name = localized(content.name);
  const copy = copier(translate("copy.command"), name, () => content.text);
  return el("section", {}, el("h3", {}, name), pre(content.text), copy);
}

/** Return the command line of the run, with a copy button. */
export function command(view: View): HTMLElement[] {
  return [
    pre(view.command, "command"),
    copier(translate("copy.command"), translate("details.command"), () => view.command),
  ];
}

/** Return a value as JSON. */
export function json(value: unknown): HTMLElement {
  return pre(JSON.stringify(value, null, 1));
}

/** Return the whole result as JSON, with buttons to copy and to save it. */
export function raw(result: Result): HTMLElement[] {
  const text = () => JSON.stringify(result, null, 1);
  const save = button(translate("details.save"), () => {
    download(new Blob([text()], { type: "application/json" }), `${result.name}.json`);
  });
  return [
    el(
      "div",
      { class: "copy-buttons" },
      copier(translate("copy.as", { what: "JSON" }), result.name, text),
      save,
    ),
    pre(lines(result)),
  ];
}

/** Return a result as JSON with one line per interval, which keeps the page short. */
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

function sampleSection(level: Level, sample: Sample): HTMLElement {
  const words = [sample.reason ?? sample.class ?? "", sample.name ?? ""]
    .filter(Boolean)
    .join(" · ");
  const levelText = translate("details.at", { n: positionOf(level) });
  const when =
    sample.t_s == null ? "" : `, ${translate("details.second", { s: sample.t_s.toFixed(2) })}`;
  const answer = [sample.head, sample.body].filter(Boolean).join("\n");
  return el(
    "section",
    {},
    el("h3", {}, [words, level.candidate, `${levelText}${when}`].filter(Boolean).join(" · ")),
    sample.detail ? detailText(sample.detail) : null,
    answer ? pre(answer) : null,
  );
}

/** Return the detail of a sample: preformatted if it has several lines, as tracebacks do. */
function detailText(text: string): HTMLElement {
  return text.includes("\n") ? pre(text) : el("p", {}, text);
}

function pre(text: string, name?: string): HTMLElement {
  return el("pre", { class: name, tabindex: 0 }, text);
}
