/** Return the file name of a chart: the subject of the page, and the chart's title. */
export function fileName(page: string, title: string): string {
  const name = page.replace(/ · torr[^·]*$/, "");
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [name.replace(/[/\\:*?"<>|\s]+/g, "-"), ...words.slice(0, 6)].join("-");
}
