// Builds one script and one style sheet, which torr inlines into every page.
import { defineConfig } from "vitest/config";

const notice = "/*! torr, Apache-2.0; with uPlot, (c) Leon Sorokin, MIT */";

export default defineConfig({
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
