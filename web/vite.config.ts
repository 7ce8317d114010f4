// Builds one script and one style sheet, which torr inlines into every page.
import { readFileSync } from "node:fs";

import { defineConfig } from "vitest/config";

// A page goes from hand to hand without the package: the licence of what it holds is in it.
const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim();
const notice = `/*! torr, Apache-2.0; with uPlot:\n\n${licence}\n*/`;

export default defineConfig({
  plugins: [
    {
      name: "messages",
      // Python gives the page its words, by the keys of this file.
      generateBundle() {
        const source = readFileSync("src/messages.json");
        this.emitFile({ type: "asset", fileName: "messages.json", source });
      },
    },
  ],
  build: {
    target: "es2020",
    outDir: "../python/torr/report/bundle",
    emptyOutDir: true,
    lib: {
      entry: "src/main.ts",
      name: "torr",
      formats: ["iife"],
      fileName: () => "page.js",
      cssFileName: "page",
    },
    rollupOptions: { output: { banner: notice } },
    reportCompressedSize: true,
  },
  // A busy machine is slow, and nothing is wrong with what is tested.
  test: { include: ["tests/**/*.test.ts"], testTimeout: 60_000 },
});
