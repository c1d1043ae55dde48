/** Opens a file in the viewer, which is loaded with the first file that is opened. */

import { apiErrorText } from "../answer/status_texts.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";

/** @param {{id: string, name: string}} file */
export async function openFile({ id, name }) {
  try {
    const { FileViewer } = await import("./file_viewer.js");
    new FileViewer(id, name);
  } catch {
    open(dialog(name, {}, h("p", { role: "alert" }, apiErrorText({ code: "unreachable" }))));
  }
}
