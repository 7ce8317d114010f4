// A canvas that records drawings as vectors: the part of a 2D context that uPlot and shapes use. It
// runs without a browser; the caller gives a function that measures text.

/** An SVG element: its name, attributes, and text or child elements. */
export interface Mark {
  tag: "path" | "text" | "clipPath";
  attributes: Record<string, string | number>;
  text?: string;
  marks?: Mark[];
}

/** Returns the width of a text in a font. */
export type Measure = (text: string, font: string) => number;

/** Records a path in the syntax of SVG. */
export class VectorPath {
  d: string;

  constructor(other?: VectorPath) {
    this.d = other?.d ?? "";
  }

  moveTo(x: number, y: number): void {
    this.d += `M${rounded(x)} ${rounded(y)}`;
  }

  /** Without a current point this begins a path, as on a canvas. */
  lineTo(x: number, y: number): void {
    this.d += `${this.d ? "L" : "M"}${rounded(x)} ${rounded(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.d += `M${rounded(x)} ${rounded(y)}h${rounded(width)}v${rounded(height)}h${rounded(-width)}Z`;
  }

  /** Add a whole circle; arcs are not supported. */
  arc(x: number, y: number, radius: number): void {
    const [r, width] = [rounded(radius), rounded(2 * radius)];
    const half = `a${r} ${r} 0 1 1`;
    this.d += `M${rounded(x - radius)} ${rounded(y)}${half} ${width} 0${half} -${width} 0Z`;
  }

  closePath(): void {
    this.d += "Z";
  }
}

const STATE = [
  ...(["fillStyle", "strokeStyle", "lineWidth", "lineJoin", "font", "textAlign"] as const),
  ...(["textBaseline", "dash", "offset", "clipId"] as const),
] as const;
const ANCHORS: Record<string, string> = { center: "middle", right: "end", end: "end" };
/** Distance from each baseline to the alphabetic one, in font heights. */
const BASELINES: Record<string, number> = { top: 0.8, middle: 0.35, bottom: -0.2 };

/** Replaces the 2D context of a canvas. */
export class VectorContext {
  marks: Mark[] = [];
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  lineJoin = "miter";
  font = "10px sans-serif";
  textAlign = "start";
  textBaseline = "alphabetic";
  dash: readonly number[] = [];
  offset: readonly [number, number] = [0, 0];
  clipId: string | null = null;
  private path = new VectorPath();
  private readonly saved: object[] = [];
  private readonly clips = new Map<string, string>();

  constructor(private readonly measure: Measure) {}

  save(): void {
    this.saved.push(Object.fromEntries(STATE.map((name) => [name, this[name]])));
  }

  restore(): void {
    Object.assign(this, this.saved.pop());
  }

  translate(x: number, y: number): void {
    this.offset = [this.offset[0] + x, this.offset[1] + y];
  }

  setLineDash(dash: readonly number[]): void {
    this.dash = [...dash];
  }

  /** Remove the whole drawing. */
  clearRect(): void {
    this.marks = [];
    this.clips.clear();
  }

  beginPath(): void {
    this.path = new VectorPath();
  }

  moveTo(x: number, y: number): void {
    this.path.moveTo(x, y);
  }

  lineTo(x: number, y: number): void {
    this.path.lineTo(x, y);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path.rect(x, y, width, height);
  }

  arc(x: number, y: number, radius: number): void {
    this.path.arc(x, y, radius);
  }

  closePath(): void {
    this.path.closePath();
  }

  clip(path = this.path): void {
    const within = this.placement();
    const key = JSON.stringify([path.d, within]);
    let id = this.clips.get(key);
    if (id === undefined) {
      id = `clip${this.clips.size + 1}`;
      this.clips.set(key, id);
      const shape: Mark = { tag: "path", attributes: { d: path.d } };
      this.marks.push({ tag: "clipPath", attributes: { id, ...within }, marks: [shape] });
    }
    this.clipId = id;
  }

  fill({ d } = this.path): void {
    if (d) this.draw({ d, ...paintAttributes("fill", this.fillStyle) });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const path = new VectorPath();
    path.rect(x, y, width, height);
    this.fill(path);
  }

  stroke({ d } = this.path): void {
    if (!d) return;
    const edge: Mark["attributes"] = { ...paintAttributes("stroke", this.strokeStyle) };
    edge["stroke-width"] = this.lineWidth;
    if (this.lineJoin !== "miter") edge["stroke-linejoin"] = this.lineJoin;
    if (this.dash.length) edge["stroke-dasharray"] = this.dash.join(" ");
    this.draw({ d, fill: "none", ...edge });
  }

  measureText(text: string): { width: number } {
    return { width: this.measure(text, this.font) };
  }

  fillText(text: string, x: number, y: number): void {
    const { size, ...font } = fontOf(this.font);
    const down = size * (BASELINES[this.textBaseline] ?? 0);
    const attributes: Mark["attributes"] = {
      x: rounded(x),
      y: rounded(y + down),
      "font-size": size,
    };
    const anchor = ANCHORS[this.textAlign];
    if (anchor) attributes["text-anchor"] = anchor;
    const paint = paintAttributes("fill", this.fillStyle);
    this.marks.push({
      tag: "text",
      attributes: { ...attributes, ...font, ...paint, ...this.placement() },
      text,
    });
  }

  private draw(attributes: Mark["attributes"]): void {
    this.marks.push({ tag: "path", attributes: { ...attributes, ...this.placement() } });
  }

  private placement(): Mark["attributes"] {
    const [x, y] = this.offset;
    return {
      ...(x || y ? { transform: `translate(${rounded(x)} ${rounded(y)})` } : {}),
      ...(this.clipId === null ? {} : { "clip-path": `url(#${this.clipId})` }),
    };
  }
}

/** Return a colour as attributes; SVG has a separate attribute for opacity. */
export function paintAttributes(name: "fill" | "stroke", colour: string): Mark["attributes"] {
  const parts = /^(#[0-9a-f]{6})([0-9a-f]{2})$/i.exec(colour);
  if (!parts?.[1] || !parts[2]) return { [name]: colour };
  return { [name]: parts[1], [`${name}-opacity`]: rounded(parseInt(parts[2], 16) / 255) };
}

/** Return the parts of a CSS font. */
function fontOf(font: string) {
  const match = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(font);
  const weight = match?.[1];
  return {
    size: Number(match?.[2] ?? 10),
    "font-family": match?.[3] ?? "sans-serif",
    ...(weight === undefined ? {} : { "font-weight": weight }),
  };
}

/** Return a number rounded to two decimals. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
