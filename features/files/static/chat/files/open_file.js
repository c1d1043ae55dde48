/** Opens a file in the viewer, which is loaded with the first file that is opened. */

import { apiErrorText } from "../answer/status_texts.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";

/** @param {import("./file_viewer.js").ViewedFile} file */
export async function openFile(file) {
  const { name } = file;
  try {
    const { FileViewer } = await import("./file_viewer.js");
    new FileViewer(file);
  } catch {
    open(dialog(name, {}, h("p", { role: "alert" }, apiErrorText({ code: "unreachable" }))));
  }
}
