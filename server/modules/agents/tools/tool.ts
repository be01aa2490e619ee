import { type Static, type TObject, Type } from 'typebox'
import { patterns } from '../../../../contract/literals.ts'
import type { OperationId } from '../../../../contract/operations.ts'
import type { JsonObject } from '../../../../provenance/json.ts'
import type { HubCall } from '../hub-calls.ts'

/** The program that calls, as it names itself. */
export interface AgentClient {
  name: string
  version?: string
}

export interface ToolContext {
  call: HubCall
  /** Undefined if the client did not name itself. */
  client: AgentClient | undefined
}

export interface Tool {
  name: string
  title: string
  /** States what it is for, when to use it, its bounds, and an example. */
  description: string
  /** The operation whose scopes the tool needs. */
  operation: OperationId
  input: TObject
  output: TObject
  isReadOnly: boolean
  /** @param input has passed the schema */
  run(input: never, context: ToolContext): Promise<JsonObject>
}

/** Returns a tool whose `run` gets the type of its input schema. */
export function defineTool<Input extends TObject>(
  tool: Omit<Tool, 'run' | 'input'> & {
    input: Input
    run(input: Static<Input>, context: ToolContext): Promise<JsonObject>
  },
): Tool {
  return tool as unknown as Tool
}

export const object = Type.Object
export const closed = { additionalProperties: false } as const

export const recordIdInput = Type.String({
  pattern: patterns.uuid,
  description: 'Id of the record, a UUID such as 019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a',
})

export const cursorInput = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 4096,
    description: '`next_cursor` of the previous result, with otherwise the same arguments. Omit it at first',
  }),
)

export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Pass it as `cursor` for the next part; null if there is no more',
})

export const recordUri = (recordId: string) => `hub://records/${recordId}`

/** A short description of a record in lists. */
export const recordSummary = Type.Object(
  {
    record_id: Type.String(),
    record_type: Type.String(),
    created_at: Type.String(),
    created_by: Type.String({ description: 'Id of the person or service account that wrote it' }),
    title: Type.String({ description: 'Title, subject or name, cut after 160 characters' }),
  },
  { additionalProperties: true },
)

const titleLengthMax = 160
const titleMembers = ['title', 'decision_subject', 'name', 'subject', 'event_kind', 'skill_id'] as const

/** Returns the members of a record that a list shows. */
export function summarize(record: JsonObject): JsonObject {
  const { record_id = '', record_type = '', created_at = '', created_by = '' } = record
  const title = titleMembers.map((member) => record[member]).find((value) => typeof value === 'string')
  return {
    record_id,
    record_type,
    created_at,
    created_by,
    title: cut(typeof title === 'string' ? title : '', titleLengthMax),
  }
}

/** Returns a text of at most `length` characters, without half of a surrogate pair at its end. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
