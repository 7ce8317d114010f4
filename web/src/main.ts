// The page: reads what it was given, and is a report, or a run that goes on.

import "uplot/dist/uPlot.min.css";
import "./style.css";

import { el } from "./dom";
import { LivePage } from "./live/page";
import type { Bootstrap, Lang } from "./model";
import { Report } from "./parts/report";
import { preferred, say, speak } from "./words";

interface Page {
  readonly element: HTMLElement;
  draw(): void;
}

function start(): void {
  const root = document.getElementById("torr");
  const text = document.getElementById("torr-data")?.textContent;
  if (!root || !text) return;
  const data = JSON.parse(text) as Bootstrap;
  speak(preferred(data.lang));
  const page = open(data, (lang: Lang) => {
    speak(lang);
    page?.draw();
  });
  root.append(page ? page.element : el("p", {}, say("page.nothing")));
  page?.draw();
}

function open(data: Bootstrap, choose: (lang: Lang) => void): Page | null {
  if (data.mode === "live") return new LivePage(data, choose);
  return data.run ? new Report(data.run, choose) : null;
}

start();
