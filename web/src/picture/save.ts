// Two buttons that save a chart as a file: as SVG, and as PNG drawn from the same SVG.

import { button, download, el } from "../dom";
import { translate } from "../translate";
import { pictureOf, type Vectors } from "./element";
import { fileName } from "./name";

/** Pixels of a PNG per pixel of the page, so that it is sharp on a slide. */
const SCALE = 2;

/** Return the buttons of a chart; `title` is in their labels and in the name of the file. */
export function saver(chart: () => HTMLElement, title: string, vectors?: Vectors): HTMLElement {
  const as = (format: "PNG" | "SVG", make: (picture: SVGSVGElement) => Promise<Blob>) =>
    button(
      format,
      () => {
        void make(pictureOf(chart(), vectors)).then((blob) => {
          download(blob, `${fileName(document.title, title)}.${format.toLowerCase()}`);
        });
      },
      {
        "aria-label": translate("chart.save", { format, title }),
        title: translate("chart.save", { format, title }),
      },
    );
  return el("div", { class: "save" }, as("PNG", asPng), as("SVG", asSvg));
}

/** Return the head of a chart: its title, other parts, and the buttons that save it. */
export function chartHead(
  chart: () => HTMLElement,
  title: string,
  ...parts: (HTMLElement | null)[]
): HTMLElement {
  const heading = el("h3", {}, title);
  return el("div", { class: "chart-head" }, heading, ...parts, saver(chart, title));
}

function written(picture: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(picture);
}

function asSvg(picture: SVGSVGElement): Promise<Blob> {
  return Promise.resolve(new Blob([written(picture)], { type: "image/svg+xml" }));
}

/** Draw through a data URL: the page's policy allows no other images. */
async function asPng(picture: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(written(picture))}`;
  await image.decode();
  const { width, height } = picture.viewBox.baseVal;
  const canvas = el("canvas", {
    width: Math.round(SCALE * width),
    height: Math.round(SCALE * height),
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("the picture is too large for a PNG"));
    });
  });
}
