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
  storage_full: () => t("There is no room for the text of this file. Delete some chats or files for good first."),
  too_many_chunks: () => t("There is no room for more texts that are searched. Delete some documents first."),
  url_scheme_blocked: () => t("Only addresses that begin with http:// or https:// are read. Give another one."),
  url_address_blocked: () => t("This address is not read: it does not lead to a public server. Give another one."),
  url_unreachable: () => t("The server of this address does not answer. Check the address, or try again later."),
  too_many_redirects: () => t("This address leads to others too often. Give the one where it ends."),
  response_too_large: () => t("What this address leads to is too large. Upload a part of it as a file."),
  content_type_unsupported: () => t("What this address leads to is not a text. Download it, and upload the file."),
  http_error: () => t("The server of this address answered with an error. Check the address."),
  timeout: () => t("The server of this address took too long. Try again later."),
  tls_error: () => t("The connection to the server of this address is not secure. Give another address."),
};
