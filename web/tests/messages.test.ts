import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, describe, expect, it, vi } from "vitest";

import english from "../src/messages.json";
import {
  fill,
  languages,
  localized,
  preferred,
  translate,
  setLanguage,
  setWords,
  tag,
} from "../src/translate";

const SOURCE = fileURLToPath(new URL("../src", import.meta.url));
const KEYS = Object.keys(english);

const code = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(SOURCE, name), "utf8"))
  .join("\n");
// The code has a whole key, or the beginning of keys: translate(`kind.${kind}`).
const whole = new Set([...code.matchAll(/"([\w.]+)"/g)].map((match) => match[1]));
const prefixes = [...code.matchAll(/translate\(`([\w.]+\.)\$\{/g)].map((match) => match[1] ?? "");

describe("messages", () => {
  it("are all used", () => {
    const isUsed = (key: string) =>
      whole.has(key) || prefixes.some((start) => key.startsWith(start));
    expect(KEYS.filter((key) => !isUsed(key))).toEqual([]);
  });

  it("all exist", () => {
    const keys = [...code.matchAll(/translate\(\s*"([\w.]+)"/g)].map((match) => match[1] ?? "");
    expect(keys.filter((key) => !KEYS.includes(key))).toEqual([]);
    expect(prefixes.filter((start) => !KEYS.some((key) => key.startsWith(start)))).toEqual([]);
  });

  it("have their values filled in, once", () => {
    expect(fill("{n} of {m}", { n: "{m}", m: 2 })).toBe("{m} of 2");
    expect(fill("{unknown}", {})).toBe("{unknown}");
  });
});

describe("languages", () => {
  const words = Object.fromEntries(
    ["en", "pt_BR", "zh", "zh_TW"].map((lang) => [lang, { "live.stop": `stop in ${lang}` }]),
  );
  vi.stubGlobal("document", { documentElement: { lang: "" } });
  setWords(words);

  afterEach(() => {
    setLanguage("en");
  });

  it("are those of the words, with their own names", () => {
    expect(languages().slice(0, 3)).toEqual([
      ["en", "English"],
      ["pt_BR", "português (Brasil)"],
      ["zh", "中文"],
    ]);
    expect(tag("pt_BR")).toBe("pt-BR");
  });

  it.each([
    ["zh-CN", "zh"],
    ["zh-TW", "zh_TW"],
    ["pt-BR", "pt_BR"],
    ["pt-PT", "en"],
    ["z", "en"],
  ])("are chosen by the browser's: %s", (browser, lang) => {
    vi.stubGlobal("navigator", { language: browser });
    expect(preferred(null)).toBe(lang);
    expect(preferred("zh")).toBe("zh");
  });

  it("apply to words and texts, and texts without them stay in English", () => {
    setLanguage("pt_BR");
    expect(document.documentElement.lang).toBe("pt-BR");
    expect(translate("live.stop")).toBe("stop in pt_BR");
    expect(localized({ en: "held", zh: "满足" })).toBe("held");
    setLanguage("zh");
    expect(localized({ en: "held", zh: "满足" })).toBe("满足");
    expect(localized("a name")).toBe("a name");
  });
});
