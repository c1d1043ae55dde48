/**
 * A list of the user's rows of one kind, the latest changed first, as read from the server and told anew by the socket;
 * and reads of lists, one at a time.
 */

/** @template {{id: string, updated_at: string}} Row */
export class ListStore {
  /**
   * @param {{all: () => Promise<Row[]>, one: (id: string) => Promise<Row>}} server
   * @param {{changed: () => void, failed: (error: Error) => void}} listener
   */
  constructor(server, listener) {
    this.server = server;
    this.listener = listener;
    /** null: not read yet. @type {Row[]|null} */
    this.rows = null;
    /** Of changes; what was read before one may lack it. */
    this.changes = 0;
    this.reading = new RepeatedRead(() => this.#readAll());
  }

  /** @param {string|null|undefined} id */
  get(id) {
    return this.rows?.find((row) => row.id === id);
  }

  /** Reads all; once more if called, or if one has changed, meanwhile. */
  refresh() {
    return this.reading.ask();
  }

  async #readAll() {
    const before = this.changes;
    const rows = await this.#attempt(() => this.server.all());
    if (before !== this.changes) void this.refresh();
    else if (rows) {
      this.rows = rows;
      this.listener.changed();
    }
  }

  /** Reads one. @param {string} id */
  async read(id) {
    const before = (this.changes += 1);
    const row = await this.#attempt(
      () => this.server.one(id),
      () => this.remove(id),
    );
    if (!row) return;
    // A later read of the same row is on its way, or it was changed here.
    if (before === this.changes) this.put(row);
    else void this.refresh();
  }

  /** @param {Row} row as the server has it now */
  put(row) {
    this.changes += 1;
    if (!this.rows) {
      void this.refresh();
      return;
    }
    const others = this.rows.filter(({ id }) => id !== row.id);
    this.rows = [...others, row].sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
    this.listener.changed();
  }

  /** @param {string} id */
  remove(id) {
    this.changes += 1;
    if (!this.rows || !this.get(id)) return;
    this.rows = this.rows.filter((row) => row.id !== id);
    this.listener.changed();
  }

  /** @template T @param {() => Promise<T>} read @param {() => void} [gone] @returns {Promise<T|null>} */
  async #attempt(read, gone) {
    try {
      return await read();
    } catch (error) {
      if (gone && error.status === 404) gone();
      else this.listener.failed(error);
      return null;
    }
  }
}

/** One read at a time; once more if it was asked for meanwhile, since what is being read may be older. */
export class RepeatedRead {
  /** @param {() => Promise<void>} read reports its failures itself */
  constructor(read) {
    this.read = read;
    this.isReading = false;
    this.isAsked = false;
  }

  /** @returns {Promise<boolean>} false: the read that is under way is followed by another one */
  async ask() {
    this.isAsked = true;
    if (this.isReading) return false;
    this.isReading = true;
    try {
      while (this.isAsked) {
        this.isAsked = false;
        await this.read();
      }
    } finally {
      this.isReading = false;
    }
    return true;
  }
}
