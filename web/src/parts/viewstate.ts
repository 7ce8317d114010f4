// Keeps choices, scroll positions and the keyboard's focus while a part of the page is drawn again.

/** Choices of the reader by their control: a sorted column, a scale, a level. */
export type Choices = Map<string, string>;

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

/** Record the focus and the scroll positions of tables in a part; return how to restore them. */
export function holdViewState(part: HTMLElement): () => void {
  const focused = document.activeElement;
  const name = focused instanceof HTMLElement && part.contains(focused) ? nameOf(focused) : null;
  const at = focusable(part, name).findIndex((element) => element === focused);
  const scrolled = new Map(
    scrollBoxes(part).map((element): [string, number] => [nameOf(element), element.scrollLeft]),
  );
  return () => {
    for (const element of scrollBoxes(part))
      element.scrollLeft = scrolled.get(nameOf(element)) ?? 0;
    focusable(part, name)[at]?.focus({ preventScroll: true });
  };
}

/** Return the focusable elements of a name; most names are unique. */
function focusable(part: HTMLElement, name: string | null): HTMLElement[] {
  if (name === null) return [];
  const elements = [...part.querySelectorAll<HTMLElement>(FOCUSABLE)];
  return elements.filter((element) => nameOf(element) === name);
}

function scrollBoxes(part: HTMLElement): HTMLElement[] {
  return [...part.querySelectorAll<HTMLElement>(".scroll")];
}

function nameOf(element: HTMLElement): string {
  const label = element.getAttribute("aria-label") ?? (element.id || element.textContent);
  return `${element.tagName} ${label}`;
}
