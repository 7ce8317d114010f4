// The top of the page: what and when, the verdict, how far to trust it, the choice of language.

import { button, el } from "../dom";
import { local, utc } from "../format";
import type { Lang, Run } from "../model";
import { language, languages, localized, translate, tag, type Key } from "../translate";

const SIGNS: Record<string, string> = { healthy: "●", contended: "▲", "generator-limited": "■" };

/** The header of a run. */
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

/** The sentence, and how far to trust it. */
export function verdict({ view }: Run): HTMLElement[] {
  return [
    el("h1", {}, unbroken(localized(view.sentence))),
    trust(view.trust.health, localized(view.trust.text)),
  ];
}

/** A line about the generator, with the sign of a word of health. */
export function trust(health: string, text: string): HTMLElement {
  const sign = el("b", { "aria-hidden": "true" }, SIGNS[health] ?? "○");
  return el("p", { class: `trust ${health}` }, sign, " ", unbroken(text));
}

/** The buttons that choose a language. */
export function languageButtons(choose: (lang: Lang) => void): HTMLElement {
  const buttons = languages().map(([lang, name]) =>
    button(
      name,
      () => {
        choose(lang);
      },
      { lang: tag(lang), "aria-pressed": String(lang === language()) },
    ),
  );
  return el(
    "div",
    { class: "languages", role: "group", "aria-label": translate("head.language") },
    ...buttons,
  );
}

/** Numbers do not part from their units, or ranges, at a line's end. */
export function unbroken(text: string): string {
  return text
    .replace(/(?<=[\d≥]) (?=%|ms|s\b|×|\d|connection)/g, "\u00a0")
    .replace(/(?<=\d)–(?=\d)/g, "–\u2060");
}

/** When it began on the reader's clock, where that shows another time. */
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
