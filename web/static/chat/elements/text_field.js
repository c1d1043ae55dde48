/**
 * Text fields: which keys belong to an input method (Chinese, Japanese, Korean), and a height that follows the text.
 */

// In Safari the Enter that ends a composition has isComposing false, but its keyCode still is that of a composition.
const COMPOSING = 229;

/**
 * Whether a key is part of a composition, in which the input method handles Enter, Escape and arrows.
 * @param {Pick<KeyboardEvent, "isComposing"|"keyCode">} key
 */
export const isComposing = (key) => key.isComposing || key.keyCode === COMPOSING;

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
