// Draws once a frame, however much has come: what a run told in an hour, all at once after a
// reload, is one picture.

/** Asks for one drawing at a time; `ask` is the browser's requestAnimationFrame. */
export class Frame {
  private isRequested = false;

  constructor(
    private readonly draw: () => void,
    private readonly request: (callback: () => void) => unknown = (callback) =>
      requestAnimationFrame(callback),
  ) {}

  /** Have what is known drawn soon. */
  schedule(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    this.request(() => {
      this.isRequested = false;
      this.draw();
    });
  }
}
