/** Tells the keys that belong to an input method (Chinese, Japanese, Korean) from the others. Pure. */

// In Safari the Enter that ends a composition has isComposing false, but its keyCode still is that of a composition.
const COMPOSING = 229;

/**
 * Whether a key is part of a composition, in which the input method handles Enter, Escape and arrows.
 * @param {Pick<KeyboardEvent, "isComposing"|"keyCode">} key
 */
export const isComposing = (key) => key.isComposing || key.keyCode === COMPOSING;
