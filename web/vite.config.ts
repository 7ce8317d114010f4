// Builds the script and the style sheet that torr inlines into every page, and the keys of its words.
import { readFileSync } from "node:fs";

import { defineConfig } from "vitest/config";

// Pages are passed on without the package, so the script contains the licence of uPlot.
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
  // Tests may run on a busy machine.
  test: { include: ["tests/**/*.test.ts"], testTimeout: 60_000 },
});
