/** The user's projects with their files. */

import { ListStore } from "../server/list_store.js";
import { readProject, readProjects } from "../server/projects_api.js";

/** @import {Project} from "../types.js" */

/** @extends {ListStore<Project>} */
export class ProjectStore extends ListStore {
  /** @param {{changed: () => void, failed: (error: Error) => void}} listener */
  constructor(listener) {
    super({ all: readProjects, one: readProject }, listener);
  }

  get projects() {
    return this.rows;
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "sessions_watched" || frame.type === "sessions_resync") void this.refresh();
    else if (frame.type === "project_changed") void this.read(frame.project);
    else if (frame.type === "project_deleted") this.remove(frame.project);
    // Its size and what fits have changed.
    else if (frame.type === "file" && frame.project) void this.read(frame.project);
  }
}
