/** REST calls of files, and the viewer, which is loaded with the first file that is opened. */

import { ApiError, call, randomId, refusal } from "../server/api.js";
import { upload } from "../server/upload.js";
import { apiErrorText } from "../answer/status_texts.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";

/** @import {FileInfo} from "../types.js" */

/** @param {string} id @returns {Promise<FileInfo>} */
export const readFile = (id) => call("GET", `files/${id}/`);
/** @param {string} id */
export const deleteFile = (id) => call("DELETE", `files/${id}/`);
/** Below /api/. @param {string} id */
export const fileAt = (id) => `files/${id}/`;
/** @param {string} at of a file, or of a document of a knowledge base */
export const contentAddress = (at) => `/api/${at}content/`;
/** Of a picture with a thumbnail. @param {string} id */
export const thumbnailAddress = (id) => `/api/files/${id}/thumbnail/`;

/** @param {string} at as above @param {{start: number, length: number}} [part]  in characters @returns {Promise<string>} what models read of it */
export const readText = async (at, part) =>
  (await read(`/api/${at}text/${part ? `?start=${part.start}&length=${part.length}` : ""}`)).text();
/** @param {string} at as above @returns {Promise<Blob>} */
export const readContent = async (at) => (await read(contentAddress(at))).blob();

/** @param {string} address */
async function read(address) {
  const requestId = randomId();
  const response = await fetch(address, { credentials: "same-origin", headers: { "X-Request-ID": requestId } }).catch(
    () => /** @type {Response|null} */ (null),
  );
  if (!response) throw new ApiError(0, "unreachable", "");
  if (!response.ok) throw refusal(response, await response.json().catch(() => /** @type {any} */ (null)), requestId);
  return response;
}

/**
 * @param {File} file
 * @param {{project?: string, progressed?: (share: number) => void}} [options] share: of the bytes that were sent, 0 to 1
 * @returns {{done: Promise<FileInfo>, abort: () => void}} as upload()
 */
export const uploadFile = (file, { project, progressed } = {}) =>
  upload("files/", formOf(file, project), { progressed });

/** @param {File} file @param {string} [project] */
function formOf(file, project) {
  const form = new FormData();
  if (project) form.append("project", project);
  form.append("file", file, file.name);
  return form;
}

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
