// Layout of a flame graph: callees are placed on their callers, with widths by weight.

/** A function on a call path; `was` is its share in the profile that this one is compared with. */
export interface FlameNode {
  name: string;
  weight: number;
  was?: number | null;
  below?: FlameNode[];
}

export interface Box {
  node: FlameNode;
  depth: number;
  /** Start and width, as shares of the graph's width. */
  from: number;
  width: number;
  /** Callers of the box, the root first. */
  path: readonly FlameNode[];
}

/** Return all boxes at least `least` wide, with `root` as wide as the graph. */
export function boxes(root: FlameNode, least: number): Box[] {
  const visible: Box[] = [];
  const whole = root.weight || 1;
  const add = (node: FlameNode, depth: number, from: number, path: readonly FlameNode[]) => {
    const width = node.weight / whole;
    if (width < least) return;
    visible.push({ node, depth, from, width, path });
    let at = from;
    for (const child of node.below ?? []) {
      add(child, depth + 1, at, [...path, node]);
      at += child.weight / whole;
    }
  };
  add(root, 0, 0, []);
  return visible;
}

/** The direction in which a share changed; below half a percentage point it counts as the same. */
export type Move = "more" | "less" | "same";

const UNCHANGED = 0.005;

/** Return how much a box's share of `whole` grew; null without an earlier share. */
export function difference(node: FlameNode, whole: FlameNode): number | null {
  if (node.was == null || !whole.weight) return null;
  return node.weight / whole.weight - node.was;
}

/** Return the direction in which a box's share of `whole` changed. */
export function moveOf(node: FlameNode, whole: FlameNode): Move {
  const change = difference(node, whole) ?? 0;
  if (Math.abs(change) < UNCHANGED) return "same";
  return change > 0 ? "more" : "less";
}

/** Return the number of rows that boxes take. */
export function height(boxes: readonly Box[]): number {
  return boxes.reduce((max, box) => Math.max(max, box.depth + 1), 0);
}

/** Return the share of functions whose name contains a text; their callees count once. */
export function matchedShare(root: FlameNode, text: string): number {
  const lowered = text.toLowerCase();
  const weightOf = (node: FlameNode): number =>
    node.name.toLowerCase().includes(lowered)
      ? node.weight
      : (node.below ?? []).reduce((sum, child) => sum + weightOf(child), 0);
  return lowered && root.weight ? weightOf(root) / root.weight : 0;
}
