/** Translated texts for files whose text could not be extracted: what is wrong and what to do. */

import { t } from "../i18n.js";

/** @type {Record<string, () => string>} */
export const FILE_ERRORS = {
  file_type_unsupported: () => t("Files of this type cannot be read. Attach another kind of file."),
  file_missing: () => t("The content of this file is gone. Upload it again."),
  content_missing: () => t("This file was imported without its content. Upload it again."),
  file_unreadable: () => t("This file could not be read. Try another one."),
  document_corrupt: () => t("This document is damaged, or is not what its name says. Try another one."),
  document_encrypted: () => t("This document is protected by a password. Save it without one, and attach it again."),
  document_limits: () => t("This document is too large to be read. Attach a part of it."),
  document_unsafe: () => t("This document contains XML that is not accepted. Save it anew, and attach it again."),
  archive_limits: () => t("This file unpacks to too much. Attach a part of it."),
  archive_unsafe: () => t("This file holds names that lead outside of it. Save it anew, and attach it again."),
  image_corrupt: () => t("This picture is damaged. Try another one."),
  image_limits: () => t("This picture has too many pixels. Make it smaller, and attach it again."),
};
