/** The user's projects with their files, as read from the server and told anew by the socket. */

import { readProject, readProjects } from "../server/projects_api.js";

/** @import {Project} from "../types.js" */

export class ProjectStore {
  /** @param {{changed: () => void, failed: (error: Error) => void}} listener */
  constructor(listener) {
    this.listener = listener;
    /** The latest changed first; null: not read yet. @type {Project[]|null} */
    this.projects = null;
    /** Of changes; what was read before one may lack it. */
    this.changes = 0;
    this.isReading = false;
    this.mustRead = false;
  }

  /** @param {string|null} id */
  get(id) {
    return this.projects?.find((project) => project.id === id);
  }

  /** One object from the socket. @param {any} frame */
  receive(frame) {
    if (frame.type === "sessions_watched" || frame.type === "sessions_resync") void this.refresh();
    else if (frame.type === "project_changed") void this.read(frame.project);
    else if (frame.type === "project_deleted") this.remove(frame.project);
    // Its size and what fits have changed.
    else if (frame.type === "file" && frame.project) void this.read(frame.project);
  }

  /** Reads all; once more if called, or if one has changed, meanwhile. */
  async refresh() {
    this.mustRead = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.mustRead) {
      this.mustRead = false;
      await this.#readAll();
    }
    this.isReading = false;
  }

  async #readAll() {
    const before = this.changes;
    const projects = await this.#attempt(() => readProjects());
    if (before !== this.changes) this.mustRead = true;
    else if (projects) {
      this.projects = projects;
      this.listener.changed();
    }
  }

  /** Reads one. @param {string} id */
  async read(id) {
    const before = (this.changes += 1);
    const project = await this.#attempt(() => readProject(id), () => this.remove(id));
    if (!project) return;
    // A later read of the same project is on its way, or it was changed here.
    if (before === this.changes) this.put(project);
    else void this.refresh();
  }

  /** @param {Project} project as the server has it now */
  put(project) {
    this.changes += 1;
    if (!this.projects) {
      void this.refresh();
      return;
    }
    const others = this.projects.filter(({ id }) => id !== project.id);
    this.projects = [...others, project].sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
    this.listener.changed();
  }

  /** @param {string} id */
  remove(id) {
    this.changes += 1;
    if (!this.get(id)) return;
    this.projects = this.projects.filter((project) => project.id !== id);
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
