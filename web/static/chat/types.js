/**
 * The types of what the server sends, as far as the page uses it. The contract is the OpenAPI and AsyncAPI
 * documents; this file has types only.
 *
 * @typedef {"queued"|"running"|"stopping"|"waiting"|"completed"|"failed"|"stopped"} Status
 * @typedef {"finished"|"error"|"user_cancelled"} StopReason  of a turn: cancelled if any of its runs was, an error if all failed
 * @typedef {{code: string, message: string, retryable: boolean}} RunError
 * @typedef {{attempt: number, seq: number}} Cursor
 * @typedef {{reason: string, tokens: number|null}} Cut  tokens: generated until then, where known
 *
 * @typedef {object} Preferences  what the user has chosen for all chats
 * @property {string} instructions
 * @property {boolean} uses_instructions  false: they are kept, but not sent
 * @property {number} instruction_tokens
 * @property {string[]} models  names; they answer where neither chat nor agent names any
 *
 * @typedef {object} Message
 * @property {string} id
 * @property {string} parent
 * @property {"user"|"assistant"} role
 * @property {string} text
 * @property {string} [sent_at]
 * @property {string} [reasoning]
 * @property {Status} [status]
 * @property {RunError} [error]
 * @property {"length"|"content_filter"|"token_limit"|"character_limit"} [finish_reason]  only if the answer is incomplete
 * @property {number} [finish_tokens]  generated when it was cut at the output limit
 * @property {boolean} [is_continuable]  only if it was cut there
 * @property {string} [model]
 * @property {string} [agent]  the name of the agent that answered
 * @property {string} [run]
 * @property {string|null} [edited_from]  of an answer that the user wrote: the one whose text was edited
 * @property {Cursor} [cursor]  up to where `text` is complete; only while the run is live
 * @property {number} [reasoning_ms]
 * @property {{is_positive: boolean|null, text: string}} [feedback]
 * @property {AttachedFile[]} [files]
 * @property {string} [additional_context]  what a client sent beside this question
 * @property {string[]} [knowledge_bases]  picked for this question alone
 * @property {string[]} [earlier_knowledge_bases]  picked for questions above this one, and searched again
 * @property {any[]} [tool_calls]
 * @property {Source[]} [citations]
 * @property {string[]} [siblings]  ids, itself included, oldest first
 * @property {number} [column]  of an answer: the model_index of its run
 * @property {string[]} [attempts]  ids of the answers in its column, itself included, oldest first
 * @property {Message[]} [alongside]  the newest answers in the other columns of its turn; only of a message of the branch
 *
 * @typedef {"text"|"image"|"tabular"} FileKind
 * @typedef {{id: string, name: string, kind: FileKind, token_count: number, has_thumbnail?: boolean}} AttachedFile  as a message has it
 *
 * @typedef {object} FileInfo  a file as the server describes it
 * @property {string} id
 * @property {string} name
 * @property {string} content_type
 * @property {number} size  bytes
 * @property {"processing"|"ready"|"failed"} status
 * @property {number} token_count
 * @property {FileKind} kind
 * @property {string|null} project
 * @property {number} [width]  of a picture that is ready, in pixels
 * @property {number} [height]
 * @property {boolean} [has_thumbnail]  of a picture
 * @property {Record<string, boolean>} [fits]  by model, once it is ready
 * @property {number} [unread_pages]  those that are pictures without text
 * @property {number} [shown_pages]  of these, the first ones, which models that see are shown
 * @property {{code: string, message: string}} [error]
 *
 * @typedef {object} RunInfo  a run as `subscribed` and `turn_started` describe it
 * @property {string} [run]
 * @property {string} [id]
 * @property {string} [turn]
 * @property {string} message
 * @property {string} model
 * @property {number} model_index
 * @property {Status} [status]
 *
 * @typedef {object} Answer  what one run shows; created by answer.js only
 * @property {string} run
 * @property {string|null} turn
 * @property {string} message
 * @property {string} model
 * @property {number} model_index
 * @property {Status} status
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
 * @typedef {object} Source  something an answer may cite
 * @property {number} number
 * @property {string} document_id
 * @property {string} title
 * @property {string} [url]
 * @property {string} [snippet]  its beginning, of what a tool found
 * @property {{start: number, length: number}} [passage]  where a search found it in the document's text, in characters (not UTF-16 units)
 * @property {string} [knowledge_base]  whose document it is
 *
 * @typedef {object} Question
 * @property {string} message  why it is asked
 * @property {Form} form
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
 * @typedef {"running"|"waiting"|"completed"|"failed"|"refused"|"unknown"} CallStatus  waiting: for approval or an answer; unknown: the run ended before the call
 *
 * @typedef {object} Round  created by tool_rounds.js only
 * @property {number} turn_index  its index in the run; -1 if it was read from a message
 * @property {string} textBefore  the text since the round before
 * @property {string} reasoning
 * @property {number|null} reasoningMs  duration of the reasoning
 * @property {ToolCall[]} calls
 *
 * @typedef {{id: string, name: string, width: number, height: number}} ToolImage  id: of its file
 * @typedef {{message: string, url: string}} Address  that the server of a tool call sends its user to
 * @typedef {{server: string|null, name: string}} SignIn  of an MCP server; null: it was deleted
 *
 * @typedef {object} ToolCall
 * @property {string} id  given by the model
 * @property {string} row  the server's id; empty: not known yet
 * @property {number} tab  which of the round's calls; -1 inside agent tools
 * @property {string} name
 * @property {Record<string, any>} given  its arguments
 * @property {string} writing  the arguments as text, as far as received
 * @property {string} output  beside documents: what the tool says of them
 * @property {string|null} ref  the id under which the message has the whole output; null: it is shown in full
 * @property {Source[]} documents
 * @property {ToolImage[]} images  that its tool returned
 * @property {CallStatus} status
 * @property {number|null} durationMs
 * @property {{done: number, total: number|null, text: string}|null} progress  how far it is; null: its tool has not said
 * @property {Question|null} question  what it asks its user, while it waits; null: nothing
 * @property {Address|null} address  where its user has to go, while it waits; null: nowhere
 * @property {SignIn|null} signIn  what its user has to sign in to, while it waits; null: nothing
 * @property {string} report  what an agent tool writes
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
 * @typedef {object} TreeNode  a line of a session's tree
 * @property {string} id
 * @property {string|null} parent
 * @property {"root"|"user"|"assistant"|"summary"} role
 * @property {Status} status
 * @property {string|null} latest_child
 * @property {string|null} model
 * @property {string|null} [edited_from]  of an answer that the user wrote
 * @property {string} sent_at
 * @property {string|null} [last_summarized_message]  of a summary
 *
 * @typedef {object} Summary
 * @property {string} id
 * @property {string} last_summarized_message  the last message it covers
 * @property {string} text
 * @property {number|null} saved_tokens
 * @property {string|null} model  that it was written for; null if unknown
 *
 * @typedef {object} ContextUsage  how a request filled the window; all counts are tokens
 * @property {number} window
 * @property {number} reserved  for the answer
 * @property {number} system
 * @property {number} tools
 * @property {number} summary
 * @property {number} history  messages above the question
 * @property {number} files
 * @property {number} question
 * @property {number} used  the sum of the six above
 * @property {number} free
 * @property {{history: number, limit: number, keeps_from: string|null}} compression  keeps_from: the first message that would stay verbatim
 *
 * @typedef {{id: string, model: string, context: ContextUsage}} MeasuredRun
 *
 * @typedef {"enqueue"|"interrupt"|"reject"} WhileAnswering
 *
 * @typedef {object} RunOptions  how a model answers; what is left out is the model's own
 * @property {number} [temperature]
 * @property {number} [top_p]
 * @property {number} [max_output_tokens]
 * @property {string[]} [stop]
 * @property {number} [seed]
 * @property {string} [reasoning_effort]
 * @property {{type: "text"|"json_object"|"json_schema", json_schema?: any}} [response_format]
 * @property {boolean} [parallel_tool_calls]
 *
 * @typedef {{tools: string[], prompt: string, options: RunOptions}} ChatOptions  of every turn of a chat
 *
 * @typedef {object} Session
 * @property {string} id
 * @property {string} title
 * @property {string} updated_at
 * @property {string|null} [agent]
 * @property {string|null} [project]
 * @property {WhileAnswering} [while_answering]
 * @property {string[]} [models]  chosen or named last; empty: none yet
 * @property {string[]} [knowledge_bases]  searched in all of its turns; some may be deleted
 * @property {string[]} [tools]  beside those of the agent
 * @property {string} [prompt]
 * @property {RunOptions} [options]
 * @property {boolean} [has_options]  it has options or a prompt; left out where they are not known
 * @property {number} [n]  its newest event
 * @property {boolean} [is_answering]
 * @property {boolean} [is_unread]
 * @property {boolean} [is_pinned]
 * @property {boolean} [is_archived]  left out of the list, and found by searches
 * @property {string[]} [tags]
 * @property {boolean} [is_temporary]  in no list, and deleted when it is left; left out where it is not known
 * @property {string|null} [match]  where a search found it in a message
 * @property {string|null} [match_message]  the id of that message
 *
 * @typedef {{id: string, name: string, text: string, created_at: string, updated_at: string}} SavedPrompt
 *
 * @typedef {object} Project
 * @property {string} id
 * @property {string} name
 * @property {string} instructions
 * @property {FileInfo[]} files  in the order in which they were uploaded
 * @property {number} token_count  of all its texts
 * @property {Record<string, boolean>} fits  by model, whether its requests contain all of them
 * @property {{chunks: number, waiting: number}} indexing  the passages that searches find, and those of them without a vector
 * @property {string} updated_at
 *
 * @typedef {"owner"|"editor"|"reader"|"restricted"} MemberRole
 *
 * @typedef {object} KnowledgeBase
 * @property {string} id
 * @property {string} name
 * @property {string} summary
 * @property {string[]} topics
 * @property {string} routing_hint
 * @property {string[]} routing_keywords
 * @property {MemberRole} role  the user's
 * @property {number} member  the id of the user's membership
 * @property {boolean} accepted  false: an invitation
 * @property {boolean} accepted_ownership  of an owner, that the base may count for the user
 * @property {string} owner  a user name
 * @property {{processing: number, ready: number, failed: number}|null} documents  null: restricted members are not told
 * @property {{chunks: number, waiting: number}|null} indexing
 * @property {string} updated_at
 *
 * @typedef {object} KnowledgeDocument
 * @property {string} id
 * @property {string} title
 * @property {string|null} [url]
 * @property {"processing"|"ready"|"failed"} status
 * @property {{code: string, message: string}|null} [error]
 * @property {FileKind} kind
 * @property {string} content_type
 * @property {number} size  bytes
 * @property {number} token_count
 * @property {number} [unread_pages]
 *
 * @typedef {{id: number, user: string, role: MemberRole, accepted: boolean, accepted_ownership: boolean}} Member
 *
 * @typedef {object} FoundPassage
 * @property {string} document_id
 * @property {string} title
 * @property {string} text
 * @property {number} start  in the document's text, in characters (not UTF-16 units)
 * @property {number|null} [lexical_rank]
 * @property {number|null} [vector_rank]
 *
 * @typedef {{id: string, name: string, emoji?: string, description?: string, questions?: string[], models: string[], tools: string[], knowledge_bases?: string[], options?: RunOptions, shared_by?: string|null}} Agent
 * @typedef {{name: string, is_default: boolean, is_own_default?: boolean, is_demo?: boolean, supports_tools: boolean, supports_vision?: boolean, unsupported_options?: string[]}} Model
 */

export {};
