// Colours by name, read from the style sheet, which defines them for light, dark and print. They
// are Okabe and Ito's, which colour-blind readers can distinguish; lines also differ in dash and
// marker.

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

/** Return a colour as a canvas takes it, with an opacity. */
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

/** Call `repaint` when colours change: by the system's scheme or for print; return how to stop. */
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
