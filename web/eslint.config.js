import js from "@eslint/js";
import { fileURLToPath } from "node:url";

import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["node_modules"] },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["eslint.config.js"] },
        tsconfigRootDir: fileURLToPath(import.meta.url).replace(/[^/]*$/, ""),
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Nothing on the page is created from strings of HTML, since targets send text.
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({
          property,
        })),
      ],
      "no-eval": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Enumerations of uPlot exist in its types only.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ["**/*.js"], ...ts.configs.disableTypeChecked },
);
