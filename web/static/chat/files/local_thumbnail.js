/** A small picture of an image that is being uploaded, as a data URL: the page's policy accepts no object URLs. */

const HEIGHT_PX = 112;

/** @param {File} file @returns {Promise<string>} empty: the browser cannot draw it */
export async function localThumbnail(file) {
  try {
    const bitmap = await createImageBitmap(file, { resizeHeight: HEIGHT_PX, resizeQuality: "medium" });
    const canvas = document.createElement("canvas");
    canvas.width = Math.min(bitmap.width, 4 * HEIGHT_PX);
    canvas.height = bitmap.height;
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    return canvas.toDataURL("image/jpeg", 0.8);
  } catch {
    return "";
  }
}
