// Draws once a frame, however much has come: what a run told in an hour, all at once after a
// reload, is one picture.

/** Asks for one drawing at a time; `ask` is the browser's requestAnimationFrame. */
export class Frame {
  private isAsked = false;

  constructor(
    private readonly draw: () => void,
    private readonly ask: (todo: () => void) => unknown = (todo) => requestAnimationFrame(todo),
  ) {}

  /** Have what is known drawn soon. */
  want(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    this.ask(() => {
      this.isAsked = false;
      this.draw();
    });
  }
}
