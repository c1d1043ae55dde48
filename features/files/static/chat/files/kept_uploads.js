/**
 * Keeps the contents of uploads under way in the browser, so that a reload of the tab does not lose them. What they are is
 * in the storage of the tab, the contents are in a database of the browser.
 */

/** @typedef {{key: string, session: string|null, name: string, size: number}} KeptUpload */

const DATABASE = "turnwire.uploads";
const STORE = "contents";
/** Contents that no tab asked for in so long are of closed tabs. */
const LONGEST_MS = 86_400_000;
/** The page that a reload replaces has released its uploads by then. */
const CLAIM_MS = 1_000;

export class KeptUploads {
  /** @param {string} user whose uploads: several people may use one browser */
  constructor(user) {
    this.name = `turnwire.uploads.${user}`;
    /** @type {Promise<IDBDatabase|null>|null} */
    this.opening = null;
    /** Of the locks of this tab, by key. @type {Map<string, () => void>} */
    this.releases = new Map();
  }

  /** @param {KeptUpload} upload @param {File} content */
  keep(upload, content) {
    if (this.#listed.some(({ key }) => key === upload.key)) return;
    this.#list([...this.#listed, upload]);
    void this.#claim(upload.key);
    void this.#change((store) => store.put({ content, at: Date.now() }, upload.key));
  }

  /** @param {string} key */
  drop(key) {
    const kept = this.#listed.filter((one) => one.key !== key);
    if (kept.length === this.#listed.length) return;
    this.#list(kept);
    this.releases.get(key)?.();
    void this.#change((store) => store.delete(key));
  }

  /** @param {string|null} from @param {string} to */
  move(from, to) {
    this.#list(this.#listed.map((one) => (one.session === from ? { ...one, session: to } : one)));
  }

  /** @returns {Promise<(KeptUpload & {content: File|null})[]>} those of this tab; content: null if it is lost */
  async read() {
    const listed = this.#listed;
    if (listed.length === 0) return [];
    void this.#change((store) => deleteOld(store));
    const claims = await Promise.all(listed.map(({ key }) => this.#claim(key)));
    const others = listed.filter((_, i) => !claims[i]).map(({ key }) => key);
    this.#list(this.#listed.filter(({ key }) => !others.includes(key)));
    const mine = listed.filter(({ key }) => !others.includes(key));
    return Promise.all(mine.map(async (one) => ({ ...one, content: await this.#contentOf(one.key) })));
  }

  /** Whether this tab has the upload, and not the one of which it is a copy. Without HTTPS there are no locks. @param {string} key @returns {Promise<boolean>} */
  #claim(key) {
    const isReleased = new Promise((resolve) => this.releases.set(key, () => resolve(null)));
    return new Promise((resolve) => {
      if (!navigator.locks) return resolve(true);
      const options = { signal: AbortSignal.timeout(CLAIM_MS) };
      const claimed = () => (resolve(true), isReleased);
      navigator.locks.request(`${this.name}.${key}`, options, claimed).catch(() => resolve(false));
    });
  }

  /** @returns {KeptUpload[]} */
  get #listed() {
    try {
      return JSON.parse(sessionStorage.getItem(this.name) ?? "[]");
    } catch {
      return [];
    }
  }

  /** @param {KeptUpload[]} uploads */
  #list(uploads) {
    try {
      if (uploads.length > 0) sessionStorage.setItem(this.name, JSON.stringify(uploads));
      else sessionStorage.removeItem(this.name);
    } catch {
      // No permission: a reload loses the uploads.
    }
  }

  /** @param {string} key @returns {Promise<File|null>} */
  async #contentOf(key) {
    const database = await this.#open();
    const found = database && (await resultOf(database.transaction(STORE).objectStore(STORE).get(key)));
    return found?.content ?? null;
  }

  /** @param {(store: IDBObjectStore) => void} change */
  async #change(change) {
    const database = await this.#open();
    if (database) change(database.transaction(STORE, "readwrite").objectStore(STORE));
  }

  /** null: the browser keeps nothing, as in a private window */
  #open() {
    this.opening ??= new Promise((resolve) => {
      try {
        const request = indexedDB.open(DATABASE, 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => resolve(null);
      } catch {
        resolve(null);
      }
    });
    return this.opening;
  }
}

/** @param {IDBRequest} request @returns {Promise<any>} null if it fails */
const resultOf = (request) =>
  new Promise((resolve) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
  });

/** @param {IDBObjectStore} store */
function deleteOld(store) {
  const request = store.openCursor();
  request.onsuccess = () => {
    const cursor = request.result;
    if (!cursor) return;
    if (cursor.value.at < Date.now() - LONGEST_MS) cursor.delete();
    cursor.continue();
  };
}
