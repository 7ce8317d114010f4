// Addresses of the pages over stored runs.

type Values = Record<string, string | number | null | undefined>;

/** Return a path with a query; empty values are omitted. */
export function address(path: string, values: Values = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value != null && value !== "") query.append(key, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** Return a path with a query in which each word of `tag` is a parameter of its own. */
export function runsAddress(path: string, filter: Values): string {
  const { tag, ...rest } = filter;
  const tags = String(tag ?? "")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => `tag=${encodeURIComponent(word)}`);
  const start = address(path, rest);
  return tags.length ? `${start}${start.includes("?") ? "&" : "?"}${tags.join("&")}` : start;
}
