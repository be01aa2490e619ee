import type { OperationId } from '../../../contract/operations.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'

export interface HubCallParts {
  /** Values of the parameters in the path. */
  path?: Readonly<Record<string, string>>
  /** Omits undefined values. */
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  body?: JsonObject
  idempotencyKey?: string | undefined
}

/**
 * Calls an operation of the API with the token of the agent, so that its access, limits, validation and visibility
 * apply. Throws {@link HubCallError} for every error.
 */
export type HubCall = (operation: OperationId, parts?: HubCallParts) => Promise<JsonObject>

/** An error of the called operation. */
export class HubCallError extends Error {
  readonly status: number

  /** @param document the problem document */
  constructor(status: number, document: JsonObject, retryAfter: string | undefined) {
    super(describe(status, document, retryAfter))
    this.name = 'HubCallError'
    this.status = status
  }
}

/** Returns what was wrong, where, and when to try again. */
function describe(status: number, { title, detail, errors }: JsonObject, retryAfter: string | undefined): string {
  const places = Array.isArray(errors) ? (errors as readonly JsonValue[]) : []
  const lines = places.slice(0, 20).map((place) => {
    const { pointer, detail: problem } = place as { pointer?: JsonValue; detail?: JsonValue }
    return `${argumentOf(String(pointer))}: ${problem}`
  })
  const wait = retryAfter === undefined ? [] : [`Try again after ${retryAfter} seconds.`]
  return [`${title} (${status}): ${detail}`, ...lines, ...wait].join('\n')
}

/** Returns the pointer into the arguments of the tool: they have the names of the members of body, path and query. */
function argumentOf(pointer: string): string {
  return pointer.replace(/^\/(?:query|path)(?=\/)/, '')
}
