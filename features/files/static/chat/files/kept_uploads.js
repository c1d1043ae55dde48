/**
 * Keeps the contents of uploads under way in the browser, so that a reload of the tab does not lose them. What they are is
 * in the storage of the tab, the contents are in a database of the browser.
 */

/** @typedef {{key: string, session: string|null, name: string, size: number}} KeptUpload */

const DATABASE = "turnwire.uploads";
const STORE = "contents";
/** Contents that no tab asked for in so long are of closed tabs. */
const LONGEST_MS = 86_400_000;

export class KeptUploads {
  /** @param {string} user whose uploads: several people may use one browser */
  constructor(user) {
    this.name = `turnwire.uploads.${user}`;
    /** @type {Promise<IDBDatabase|null>|null} */
    this.opening = null;
  }

  /** @param {KeptUpload} upload @param {File} content */
  keep(upload, content) {
    if (this.#listed.some(({ key }) => key === upload.key)) return;
    this.#list([...this.#listed, upload]);
    void this.#change((store) => store.put({ content, at: Date.now() }, upload.key));
  }

  /** @param {string} key */
  drop(key) {
    const kept = this.#listed.filter((one) => one.key !== key);
    if (kept.length === this.#listed.length) return;
    this.#list(kept);
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
    return Promise.all(listed.map(async (one) => ({ ...one, content: await this.#contentOf(one.key) })));
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
