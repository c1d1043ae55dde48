/** REST calls of files. An upload is an XMLHttpRequest, since fetch does not report what was sent. */

import { ApiError, call, csrfToken, newRequestId, refusal } from "./api.js";

/** @import {FileInfo} from "../types.js" */

/** An upload that sends nothing, or gets no answer, for so long is given up: the network is gone. */
const LONGEST_SILENCE_MS = 30_000;

/** @param {string} id @returns {Promise<FileInfo>} */
export const readFile = (id) => call("GET", `files/${id}/`);
/** @param {string} id */
export const deleteFile = (id) => call("DELETE", `files/${id}/`);
/** @param {string} id */
export const contentAddress = (id) => `/api/files/${id}/content/`;
/** Of a picture with a thumbnail. @param {string} id */
export const thumbnailAddress = (id) => `/api/files/${id}/thumbnail/`;

/** @param {string} id @returns {Promise<string>} what models read of it */
export const readText = async (id) => (await read(`/api/files/${id}/text/`)).text();
/** @param {string} id @returns {Promise<Blob>} */
export const readContent = async (id) => (await read(contentAddress(id))).blob();

/** @param {string} address */
async function read(address) {
  const requestId = newRequestId();
  const response = await fetch(address, { credentials: "same-origin", headers: { "X-Request-ID": requestId } }).catch(() => /** @type {Response|null} */ (null));
  if (!response) throw new ApiError(0, "unreachable", "");
  if (!response.ok) throw refusal(response, await response.json().catch(() => /** @type {any} */ (null)), requestId);
  return response;
}

/**
 * @param {File} file
 * @param {{project?: string, progressed?: (share: number) => void}} [options] share: of the bytes that were sent, 0 to 1
 * @returns {{done: Promise<FileInfo>, abort: () => void}} done rejects with an ApiError; after abort() its code is `aborted`
 */
export function uploadFile(file, { project, progressed = () => {} } = {}) {
  const request = new XMLHttpRequest();
  const requestId = newRequestId();
  let isAborted = false;
  let silence = 0;
  const awaitNext = () => {
    clearTimeout(silence);
    silence = setTimeout(() => request.abort(), LONGEST_SILENCE_MS);
  };
  /** @type {Promise<FileInfo>} */
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => {
      awaitNext();
      progressed(total ? loaded / total : 0);
    };
    request.onload = () => (request.status === 201 && request.response ? resolve(request.response) : reject(refusal(request, request.response, requestId)));
    request.onerror = request.onabort = () => reject(new ApiError(0, isAborted ? "aborted" : "unreachable", ""));
    request.onloadend = () => clearTimeout(silence);
  });
  request.open("POST", "/api/files/");
  request.responseType = "json";
  const headers = { Accept: "application/json", "X-Request-ID": requestId, "X-CSRFToken": csrfToken() };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.send(formOf(file, project));
  awaitNext();
  const abort = () => {
    isAborted = true;
    request.abort();
  };
  return { done, abort };
}

/** @param {File} file @param {string} [project] */
function formOf(file, project) {
  const form = new FormData();
  if (project) form.append("project", project);
  form.append("file", file, file.name);
  return form;
}
