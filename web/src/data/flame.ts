// Where the boxes of a flame graph stand: callers below what they call, as wide as their weight.

/** A function in its place; `was` is its share in the profile that this one is set beside. */
export interface FlameNode {
  name: string;
  weight: number;
  was?: number | null;
  below?: FlameNode[];
}

export interface Box {
  node: FlameNode;
  depth: number;
  /** Shares of the width: where it begins, and how wide it is. */
  from: number;
  width: number;
  /** Which boxes lead to it, the root first. */
  path: readonly FlameNode[];
}

/** All boxes that are wide enough to be seen, with `root` as wide as the graph. */
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

/** Which way a share moved; what is below half a point is drawn as no move. */
export type Move = "more" | "less" | "same";

const UNCHANGED = 0.005;

/** How much larger a box's share of `whole` is than before; null where there is no before. */
export function difference(node: FlameNode, whole: FlameNode): number | null {
  if (node.was == null || !whole.weight) return null;
  return node.weight / whole.weight - node.was;
}

/** Which way a box's share of `whole` moved. */
export function moveOf(node: FlameNode, whole: FlameNode): Move {
  const change = difference(node, whole) ?? 0;
  if (Math.abs(change) < UNCHANGED) return "same";
  return change > 0 ? "more" : "less";
}

/** How deep boxes go. */
export function height(boxes: readonly Box[]): number {
  return boxes.reduce((max, box) => Math.max(max, box.depth + 1), 0);
}

/** The share of the whole in functions whose name has a text; what is below a match counts once. */
export function matchedShare(root: FlameNode, text: string): number {
  const lowered = text.toLowerCase();
  const weightOf = (node: FlameNode): number =>
    node.name.toLowerCase().includes(lowered)
      ? node.weight
      : (node.below ?? []).reduce((sum, child) => sum + weightOf(child), 0);
  return lowered && root.weight ? weightOf(root) / root.weight : 0;
}
