// The header of a page: name, time, verdict, trust line and language buttons.

import { button, el } from "../dom";
import { local, utc } from "../format";
import type { Lang, Run } from "../model";
import { language, languages, localized, translate, tag, type Key } from "../translate";

const SIGNS: Record<string, string> = { healthy: "●", contended: "▲", "generator-limited": "■" };

/** Return the header of a run. */
export function head(run: Run, choose: (lang: Lang) => void): HTMLElement {
  const { result } = run;
  return el(
    "header",
    {},
    el("div", { class: "top" }, about(run), languageButtons(choose)),
    ...verdict(run),
    result.note ? el("p", { class: "note" }, result.note) : null,
  );
}

/** Return the verdict and the trust line. */
export function verdict({ view }: Run): HTMLElement[] {
  return [
    el("h1", {}, unbroken(localized(view.sentence))),
    trust(view.trust.health, localized(view.trust.text)),
  ];
}

/** Return the trust line: the sign of the generator's health, and a text. */
export function trust(health: string, text: string): HTMLElement {
  const sign = el("b", { "aria-hidden": "true" }, SIGNS[health] ?? "○");
  return el("p", { class: `trust ${health}` }, sign, " ", unbroken(text));
}

/** Return the buttons that choose a language. */
export function languageButtons(choose: (lang: Lang) => void): HTMLElement {
  const buttons = languages().map(([lang, name]) =>
    button(name, () => choose(lang), {
      lang: tag(lang),
      "aria-pressed": String(lang === language()),
    }),
  );
  return el(
    "div",
    { class: "languages", role: "group", "aria-label": translate("head.language") },
    ...buttons,
  );
}

/** Return text in which numbers do not break from their units, and ranges do not break. */
export function unbroken(text: string): string {
  return text
    .replace(/(?<=[\d≥]) (?=%|ms|s\b|×|\d|connection)/g, "\u00a0")
    .replace(/(?<=\d)–(?=\d)/g, "–\u2060");
}

/** Return the start in the reader's time zone, null if that is UTC. */
function localTime(started: string): string | null {
  return new Date(started).getTimezoneOffset() === 0
    ? null
    : `${translate("head.local")} ${local(started)}`;
}

function about({ result }: Run): HTMLElement {
  const kind = translate(`kind.${result.kind}` as Key);
  const times = el("p", {}, el("strong", {}, result.name), ` · torr ${kind}`);
  if (!result.started) return el("div", { class: "run-info" }, times);
  const zone = el(
    "time",
    { datetime: result.started },
    [utc(result.started, result.ended), localTime(result.started)].filter(Boolean).join(" · "),
  );
  return el("div", { class: "run-info" }, times, el("p", {}, zone));
}
