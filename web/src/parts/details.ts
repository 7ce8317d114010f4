// What opens when somebody looks: the answers of failures, the environment, the command, the JSON.

import { button, download, el } from "../dom";
import type { Block, Level, List, Result, Sample, View } from "../model";
import { localized, translate } from "../translate";
import { copier } from "./table";

/** A part that opens; what is in it is made when it does. */
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

/** What the samples of a result are: what servers answered, or what functions raised. */
export function samplesTitle(kind: string): string {
  return translate(kind === "micro" ? "details.raised" : "details.samples");
}

/** What was kept of failures, one a class and level. */
export function samples(levels: readonly Level[]): HTMLElement[] {
  return levels.flatMap((level) =>
    (level.samples ?? []).map((sample) => sampleSection(level, sample)),
  );
}

/** A list below its title. */
export function list(content: List, hasTitle = true): HTMLElement {
  const items = content.items.map((item) => el("li", {}, localized(item)));
  return el(
    "section",
    {},
    hasTitle && el("h2", {}, localized(content.title)),
    el("ul", {}, ...items),
  );
}

/** Text as it is, below its name. */
export function block(content: Block): HTMLElement {
  return el("section", {}, el("h3", {}, content.name), pre(content.text));
}

/** The command that runs it again. */
export function command(view: View): HTMLElement[] {
  return [
    pre(view.command, "command"),
    copier(translate("copy.command"), translate("details.command"), () => view.command),
  ];
}

/** A value as JSON. */
export function json(value: unknown): HTMLElement {
  return pre(JSON.stringify(value, null, 1));
}

/** The whole result: to copy, to keep, and to read, a line an interval. */
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

function sampleSection(level: Level, sample: Sample): HTMLElement {
  const words = [sample.reason ?? sample.class ?? "", sample.name ?? ""]
    .filter(Boolean)
    .join(" · ");
  const levelText = translate("details.at", { n: level.concurrency });
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

/** What was said of it: tracebacks keep their lines. */
function detailText(text: string): HTMLElement {
  return text.includes("\n") ? pre(text) : el("p", {}, text);
}

function pre(text: string, name?: string): HTMLElement {
  return el("pre", { class: name, tabindex: 0 }, text);
}
