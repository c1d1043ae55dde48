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
