// What a reader chose and where they are on a part of the page, while it is drawn anew.

/** Choices by the name of what they were made in: a sorted column, a scale, a level. */
export type Choices = Map<string, string>;

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

/** Note what has the keyboard's focus in a part, and how far tables are scrolled; puts both back. */
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

/** Elements that take the focus and are called so: most have a name of their own, not all. */
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
