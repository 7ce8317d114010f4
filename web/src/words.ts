// The page's own words, in the language that was asked for, chosen on the page, or the reader's.

import en from "./messages/en.json";
import zh from "./messages/zh.json";
import type { Lang, Text } from "./model";

export type Key = keyof typeof en;

const MESSAGES: Record<Lang, Record<Key, string>> = { en, zh };

let current: Lang = "en";

/** Choose the language of everything that is said from now on. */
export function speak(lang: Lang): void {
  current = lang;
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
}

/** The language in use. */
export function spoken(): Lang {
  return current;
}

/** The language to begin with: the one asked for, else the browser's. */
export function preferred(asked: Lang | null): Lang {
  return asked ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
}

const KEPT = "torr-lang";

/** What a reader chose on an earlier page of the same server; null where that is not known. */
export function remembered(): Lang | null {
  try {
    const found = sessionStorage.getItem(KEPT);
    return found === "en" || found === "zh" ? found : null;
  } catch {
    return null;
  }
}

/** Have the other pages of the same server begin in a language. */
export function remember(lang: Lang): void {
  try {
    sessionStorage.setItem(KEPT, lang);
  } catch {
    // A browser that keeps nothing begins in its own language again.
  }
}

/** A message, its `{names}` filled in. */
export function say(key: Key, values: Record<string, string | number> = {}): string {
  return fill(MESSAGES[current][key], values);
}

/** Text that torr wrote, in the language in use where it has it. */
export function pick(text: Text): string {
  return typeof text === "string" ? text : text[current];
}

/** The name of a thing by which it is known in every language. */
export function known(text: Text): string {
  return typeof text === "string" ? text : text.en;
}

/** Put values in the place of names in braces. */
export function fill(message: string, values: Record<string, string | number>): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
