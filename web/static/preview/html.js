/**
 * Runs in the frame of a preview, whose document it replaces by what the page sends. What it shows is hostile and may do with
 * this script as it likes: nothing here knows more than the content.
 */

(() => {
  // Opened directly: nobody to show anything for.
  if (window.parent === window) return;
  const { port1: port, port2: given } = new MessageChannel();
  /** @param {string} kind */
  const tell = (kind) => port.postMessage({ kind });

  /** @param {string} html */
  function show(html) {
    // Policy and origin stay. Opening removes all listeners.
    document.open();
    document.addEventListener("securitypolicyviolation", () => tell("blocked"), { once: true });
    document.write(html);
    document.close();
  }

  port.onmessage = ({ data }) => {
    if (data.kind === "ping") tell("pong");
    if (data.kind === "show") show(data.html);
  };
  // To any origin, since the page's is not known here, and nothing is told. The port ends with this document.
  window.parent.postMessage({ kind: "ready" }, "*", [given]);
})();
