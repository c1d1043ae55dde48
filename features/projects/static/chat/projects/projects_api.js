/** REST calls of projects. */

import { call, readAllPages } from "../server/api.js";

/** @import {Project} from "../types.js" */

/** @returns {Promise<Project[]>} all, the latest changed first */
export const readProjects = () => readAllPages("projects/");
/** @param {string} id @returns {Promise<Project>} */
export const readProject = (id) => call("GET", `projects/${id}/`);
/** @param {string} name @returns {Promise<Project>} */
export const createProject = (name) => call("POST", "projects/", { name });
/** @param {string} id @param {Partial<ProjectBody>} fields @returns {Promise<Project>} */
export const changeProject = (id, fields) => call("PATCH", `projects/${id}/`, fields);
/** Its chats and files go on without it. @param {string} id */
export const deleteProject = (id) => call("DELETE", `projects/${id}/`);
