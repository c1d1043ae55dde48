/** Makes a text field as high as its text, for browsers without the CSS property `field-sizing`. */

/** @param {HTMLTextAreaElement} field @returns {() => void} call it when the text was changed by a script */
export function autosize(field) {
  if (CSS.supports("field-sizing", "content")) return () => {};
  const fit = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  };
  field.addEventListener("input", fit);
  return fit;
}
