/** Reports what fails: in the notice, or by the login page once the login has ended. Its functions may be passed on, or both at once: `...failures`. */

import { redirectToLogin } from "./login_redirect.js";

export class Failures {
  /** @param {import("../elements/notices.js").Notice} notice */
  constructor(notice) {
    /** @param {{status?: number, code?: string, message?: string}} error */
    this.failed = (error) => {
      if (error.status === 401) redirectToLogin();
      else notice.show(error);
    };
    /** Whether the action succeeded. @param {() => Promise<any>} action @returns {Promise<boolean>} */
    this.attempt = async (action) => {
      try {
        await action();
        return true;
      } catch (error) {
        this.failed(error);
        return false;
      }
    };
  }
}
