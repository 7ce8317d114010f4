// Limits drawing to once per frame, however many events arrive: the events of an hour, which arrive
// at once after a reload, are drawn once.

/** Schedules one drawing at a time; `request` is the browser's requestAnimationFrame. */
export class Frame {
  private isRequested = false;

  constructor(
    private readonly draw: () => void,
    private readonly request: (callback: () => void) => unknown = (callback) =>
      requestAnimationFrame(callback),
  ) {}

  /** Draw in the next frame. */
  schedule(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    this.request(() => {
      this.isRequested = false;
      this.draw();
    });
  }
}
