// The page's own words. Python gives them in every language that has a catalogue; messages.json has
// the keys and their English.

import type messages from "./messages.json";
import type { Lang, Text, Words } from "./model";

export type Key = keyof typeof messages;

let words: Words = {};
let current: Lang = "en";

/** Set the words of every language. */
export function setWords(allWords: Words): void {
  words = allWords;
}

/** Choose the language of every text that is drawn from now on. */
export function setLanguage(lang: Lang): void {
  current = lang;
  document.documentElement.lang = tag(lang);
}

/** Return the language in use. */
export function language(): Lang {
  return current;
}

/** Return the code and the own name of each language: `zh`, `中文`. */
export function languages(): [Lang, string][] {
  return Object.keys(words).map((lang) => [
    lang,
    new Intl.DisplayNames(tag(lang), { type: "language" }).of(tag(lang)) ?? lang,
  ]);
}

/** Return the tag that HTML has for a language: `pt-BR` for `pt_BR`. */
export function tag(lang: Lang): string {
  return lang.replace("_", "-");
}

/** Return the language of `--lang`, else the browser's if torr has it, else English. */
export function preferred(option: Lang | null): Lang {
  const wanted = `${navigator.language}-`.toLowerCase();
  const isWanted = (lang: Lang) => wanted.startsWith(`${tag(lang)}-`.toLowerCase());
  return option ?? Object.keys(words).filter(isWanted).at(-1) ?? "en";
}

const STORAGE_KEY = "torr-lang";

/** Return the language that was chosen on another page of the same server, null if none was. */
export function remembered(): Lang | null {
  try {
    const lang = sessionStorage.getItem(STORAGE_KEY);
    return lang !== null && lang in words ? lang : null;
  } catch {
    return null;
  }
}

/** Store the language in which other pages of the same server begin. */
export function remember(lang: Lang): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, lang);
  } catch {
    // Without storage the next page begins in the browser's language.
  }
}

/** Return the words of a key with values for its `{placeholders}`. */
export function translate(key: Key, values: Record<string, string | number> = {}): string {
  return fill(words[current]?.[key] ?? key, values);
}

/** Return a text that Python wrote, in the language in use if it has it. */
export function localized(text: Text): string {
  return typeof text === "string" ? text : (text[current] ?? text.en);
}

/** Return the English of a text, which identifies a thing in every language. */
export function english(text: Text): string {
  return typeof text === "string" ? text : text.en;
}

/** Return a template with values in the place of names in braces. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
