// What a reader chose and where they are on a part of the page, while it is drawn anew.

/** Choices by the name of what they were made in: a sorted column, a scale, a level. */
export type Choices = Map<string, string>;

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

/** Note what has the keyboard's focus in a part, and how far tables are scrolled; puts both back. */
export function hold(part: HTMLElement): () => void {
  const focused = document.activeElement;
  const name = focused instanceof HTMLElement && part.contains(focused) ? nameOf(focused) : null;
  const at = named(part, name).findIndex((each) => each === focused);
  const scrolled = new Map(
    scrolls(part).map((each): [string, number] => [nameOf(each), each.scrollLeft]),
  );
  return () => {
    for (const each of scrolls(part)) each.scrollLeft = scrolled.get(nameOf(each)) ?? 0;
    named(part, name)[at]?.focus({ preventScroll: true });
  };
}

/** Elements that take the focus and are called so: most have a name of their own, not all. */
function named(part: HTMLElement, name: string | null): HTMLElement[] {
  if (name === null) return [];
  const found = [...part.querySelectorAll<HTMLElement>(FOCUSABLE)];
  return found.filter((each) => nameOf(each) === name);
}

function scrolls(part: HTMLElement): HTMLElement[] {
  return [...part.querySelectorAll<HTMLElement>(".scroll")];
}

function nameOf(element: HTMLElement): string {
  const own = element.getAttribute("aria-label") ?? (element.id || element.textContent);
  return `${element.tagName} ${own}`;
}
