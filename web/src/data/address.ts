// Addresses of the pages of kept runs.

type Values = Record<string, string | number | null | undefined>;

/** A path with what it asks for; values that are empty are left out. */
export function address(path: string, values: Values = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value != null && value !== "") query.append(key, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** The same where `tag` may hold several words, each a tag that must be there. */
export function runsAddress(path: string, filter: Values): string {
  const { tag, ...rest } = filter;
  const tags = String(tag ?? "")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => `tag=${encodeURIComponent(word)}`);
  const start = address(path, rest);
  return tags.length ? `${start}${start.includes("?") ? "&" : "?"}${tags.join("&")}` : start;
}
