// Colours by name, read from the style sheet, so that light, dark and print are said in one place.
// They are Okabe and Ito's, told apart without colour vision; series differ by dash and marker first.

export type Colour =
  | "text"
  | "muted"
  | "grid"
  | "background"
  | "blue"
  | "orange"
  | "green"
  | "purple"
  | "grey"
  | "sky"
  | "yellow"
  | "band";

export const CLASS_COLOURS: readonly Colour[] = [
  "orange",
  "purple",
  "sky",
  "yellow",
  "grey",
  "green",
];

/** A colour as the canvas takes it, at some opacity. */
export function colour(name: Colour, alpha = 1): string {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  if (alpha === 1) return hex;
  return (
    hex +
    Math.round(alpha * 255)
      .toString(16)
      .padStart(2, "0")
  );
}

/** Call back when the colours change: the system's scheme, or paper. */
export function onRepaint(repaint: () => void): () => void {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const beforePrint = () => {
    root.dataset["print"] = "";
    repaint();
  };
  const afterPrint = () => {
    delete root.dataset["print"];
    repaint();
  };
  scheme.addEventListener("change", repaint);
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  return () => {
    scheme.removeEventListener("change", repaint);
    removeEventListener("beforeprint", beforePrint);
    removeEventListener("afterprint", afterPrint);
  };
}
