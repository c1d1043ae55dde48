/** The entry of a message's menu that deletes it. */

import { t } from "../i18n.js";

export const removal = () => ({
  label: t("Delete"),
  icon: /** @type {const} */ ("trash"),
  hint: t("With all that followed it"),
  isDangerous: true,
});
