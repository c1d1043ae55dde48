/** A POST of a large body, with its progress. An XMLHttpRequest, since fetch does not report what was sent. */

import { ApiError, csrfToken, randomId, refusal } from "./api.js";

/** An upload that sends nothing for so long is given up: the network is gone. */
const LONGEST_SILENCE_MS = 30_000;
/** Once all is sent, the server stores it before it answers; sent again meanwhile, it would be stored twice. */
const LONGEST_STORING_MS = 300_000;

/**
 * @param {string} path below /api/
 * @param {FormData|Blob} body
 * @param {object} [options]
 * @param {string} [options.contentType]  of a body that does not say it itself
 * @param {"POST"|"PUT"} [options.method]
 * @param {(share: number) => void} [options.progressed]  share: of the bytes that were sent, 0 to 1
 * @returns {{done: Promise<any>, abort: () => void}} done: the answer; rejects with an ApiError; after abort() its code is `aborted`
 */
export function upload(path, body, { contentType = "", method = "POST", progressed = () => {} } = {}) {
  const request = new XMLHttpRequest();
  const requestId = randomId();
  let isAborted = false;
  let silence = 0;
  const awaitNext = (longest = LONGEST_SILENCE_MS) => {
    clearTimeout(silence);
    silence = setTimeout(() => request.abort(), longest);
  };
  const done = new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => {
      awaitNext();
      progressed(total ? loaded / total : 0);
    };
    request.upload.onload = () => awaitNext(LONGEST_STORING_MS);
    request.onload = () =>
      [200, 201].includes(request.status) && request.response
        ? resolve(request.response)
        : reject(refusal(request, request.response, requestId));
    request.onerror = request.onabort = () => reject(new ApiError(0, isAborted ? "aborted" : "unreachable", ""));
    request.onloadend = () => clearTimeout(silence);
  });
  request.open(method, `/api/${path}`);
  request.responseType = "json";
  const headers = {
    Accept: "application/json",
    "X-Request-ID": requestId,
    "X-CSRFToken": csrfToken(),
    ...(contentType && { "Content-Type": contentType }),
  };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.send(body);
  awaitNext();
  const abort = () => {
    isAborted = true;
    request.abort();
  };
  return { done, abort };
}
