// Entry point of the page: reads the bootstrap data and shows a report, a live run or stored runs.

import "uplot/dist/uPlot.min.css";
import "./style.css";

import { el } from "./dom";
import { HistoryPage } from "./history/page";
import { LivePage } from "./live/page";
import type { Bootstrap, Lang } from "./model";
import { Report } from "./parts/report";
import { preferred, remember, remembered, translate, setLanguage, setWords } from "./translate";

interface Page {
  readonly element: HTMLElement;
  draw(): void;
}

function start(): void {
  const root = document.getElementById("torr");
  const text = document.getElementById("torr-data")?.textContent;
  if (!root || !text) return;
  const data = JSON.parse(text) as Bootstrap;
  // A report that was saved as a file starts in the language of its reader each time.
  const isServed = data.mode !== "report";
  setWords(data.words);
  setLanguage((isServed ? remembered() : null) ?? preferred(data.lang));
  const page = open(data, (lang: Lang) => {
    setLanguage(lang);
    if (isServed) remember(lang);
    page?.draw();
  });
  root.append(page ? page.element : el("p", {}, translate("head.nothing")));
  page?.draw();
}

function open(data: Bootstrap, choose: (lang: Lang) => void): Page | null {
  if (data.mode === "live") return new LivePage(data, choose);
  if (data.stored) return new HistoryPage(data.stored, data.run, choose);
  return data.run ? new Report(data.run, choose) : null;
}

start();
