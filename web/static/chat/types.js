/**
 * The types of the page; this file has types only. Those of what the server sends and accepts are generated (web/server_types.d.ts):
 * here some have the page's names, and say what the page does not have.
 *
 * @typedef {RunErrorAnswer} RunError
 * @typedef {CursorAnswer} Cursor
 * @typedef {{reason: string, tokens: number|null}} Cut  tokens: generated until then, where known
 *
 * @typedef {PreferencesAnswer} Preferences  what the user has chosen for all chats
 *
 * @typedef {Omit<Partial<MessageAnswer>, "role"|"alongside"> & {id: string, parent: string, role: "user"|"assistant", text: string, alongside?: Message[]}} Message  a message of a branch, as far as the page has it
 *
 * @typedef {FileAnswer["kind"]} FileKind
 * @typedef {MessageFileAnswer} AttachedFile  as a message has it
 *
 * @typedef {Omit<FileAnswer, "created_at"> & {created_at?: string}} FileInfo  a file as the server describes it
 *
 * @typedef {object} Answer  what one run shows; created by answer.js only
 * @property {string} run
 * @property {string|null} turn
 * @property {string} message
 * @property {string} model
 * @property {number} model_index
 * @property {wire.Status} status
 * @property {number} attempt  0: nothing received yet
 * @property {number} seq  the newest packet applied
 * @property {string} text
 * @property {string} reasoning
 * @property {number|null} reasoningMs  duration of the reasoning; null while unknown
 * @property {Round[]} rounds  of tools; each contains the reasoning before it
 * @property {Source[]} citations
 * @property {RunError|null} error
 * @property {Cut|null} cut  why the answer is incomplete
 * @property {boolean} ended
 * @property {number} stoppedAttempt  the newest attempt of which `stop` was received; a newer one continues the answer
 * @property {number|null} position  place in the queue, while it waits
 * @property {boolean} quiet  the model has been silent for a while
 *
 * @typedef {Partial<SourceAnswer> & {number: number, title: string, place?: number, statement?: string}} Source  something an answer
 *   may cite. place: among the sources of its answer, from 1: the number that people see; without one, it is not cited. statement: what the answer says before
 *   the citation
 *
 * @typedef {{properties: Record<string, Asked>, required?: string[]}} Form  a JSON Schema of an object with primitive properties
 *
 * @typedef {object} Asked  a property of a form
 * @property {"string"|"number"|"integer"|"boolean"|"array"} type
 * @property {string} [title]
 * @property {string} [description]
 * @property {any} [default]
 * @property {"email"|"uri"|"date"|"date-time"} [format]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [minItems]
 * @property {Partial<Asked>} [items]
 * @property {string[]} [enum]
 * @property {string[]} [enumNames]
 * @property {{const: string, title?: string}[]} [oneOf]
 * @property {{const: string, title?: string}[]} [anyOf]
 *
 * @typedef {ToolCallAnswer["status"]} CallStatus  pending: carried out by the program that asked; waiting: for approval or an answer; unknown: the run ended before the call
 *
 * @typedef {object} Round  created by tool_rounds.js only
 * @property {number} turn_index  its index in the run; -1 if it was read from a message
 * @property {string} textBefore  the text since the round before
 * @property {string} reasoning
 * @property {number|null} reasoningMs  duration of the reasoning
 * @property {ToolCall[]} calls
 *
 * @typedef {CallMembers & typeof import("./state/tool_rounds.js").NOTHING_YET} ToolCall
 *
 * @typedef {object} CallMembers
 * @property {string} id  given by the model
 * @property {number} tab  which of the round's calls; -1 inside agent tools
 * @property {string} name
 * @property {Source[]} documents
 * @property {ToolImageAnswer[]} images  that its tool returned
 * @property {CallStatus} status
 * @property {ToolCall[]} inside
 *
 * @typedef {object} SessionState  created by session_state.js only
 * @property {string} session
 * @property {number|null} n  the newest session event applied; null before the first subscription
 * @property {Message[]|null} branch  the current branch, oldest first, as far up as it was read; null before that
 * @property {boolean} hasOlder  the server has messages above the first
 * @property {Record<string, Message>} peeked  earlier attempts that are shown beside the branch, by question and column
 * @property {Record<string, Answer>} answers  by run
 * @property {Summary|null} summary  replaces the older part of the branch in the model's context
 * @property {"under_way"|"failed"|null} compressing
 *
 * @typedef {"resubscribe"|"read"|"sessions"|"summary"} Effect  what LiveSession does next
 *
 * @typedef {NodeAnswer} TreeNode  a line of a session's tree
 *
 * @typedef {SummaryAnswer} Summary  replaces the older part of the branch in the model's context
 *
 * @typedef {ContextAnswer} ContextUsage  how a request filled the window; all counts are tokens
 *
 * @typedef {{id: string, model: string, context: ContextUsage}} MeasuredRun
 *
 * @typedef {SessionAnswer["while_answering"]} WhileAnswering
 *
 * @typedef {Partial<SessionAnswer> & {id: string, title: string, updated_at: string}} Session  as far as the page has it: frames lack the prompt, the reminder and the options
 *
 * @typedef {SavedPromptAnswer} SavedPrompt
 *
 * @typedef {ProjectAnswer} Project
 *
 * @typedef {MemberAnswer["role"]} MemberRole
 *
 * @typedef {KnowledgeBaseAnswer} KnowledgeBase
 *
 * @typedef {Omit<DocumentAnswer, "unread_pages"|"table_rows"|"shown_rows"|"created_at"> & {unread_pages?: number, table_rows?: number, shown_rows?: number}} KnowledgeDocument
 *
 * @typedef {MemberAnswer} Member
 *
 * @typedef {FoundAnswer} FoundPassage
 *
 * @typedef {Partial<AgentAnswer> & {id: string, name: string, models: string[], tools: string[]}} Agent
 * @typedef {Partial<ModelAnswer> & {name: string, is_default: boolean, supports_tools: boolean}} Model
 */

export {};
