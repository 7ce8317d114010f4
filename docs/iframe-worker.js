// Browsers start no workers for pages opened from disk. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      this.frame.answer = (data) => setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })));
      const script = document.createElement("script");
      script.src = new URL(url, location.href);
      const opening = "<script>postMessage = (data) => frameElement.answer(data)</script>";
      this.frame.srcdoc = opening + script.outerHTML;
      document.body.append(this.frame);
    }

    async postMessage(data) {
      await this.loaded;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
