// Search without a server: a page of the file system may start no worker, so a hidden frame takes its place.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    #frame = document.createElement("iframe");
    #waiting = [];
    #isLoaded = false;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data })); // as a worker's
      const script = inner.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.#isLoaded = true;
        for (const data of this.#waiting.splice(0)) this.postMessage(data);
      };
      inner.document.body.append(script);
    }

    postMessage(data) {
      if (this.#isLoaded) this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.#waiting.push(data);
    }

    terminate() {
      this.#frame.remove();
    }
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
}
