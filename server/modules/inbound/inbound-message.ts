import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { patterns } from '../../../contract/literals.ts'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/index.ts'
import { compileSchema } from '../../http/request-validation.ts'
import { InboundMessageSchema } from './inbound-schemas.ts'

const shapeErrors = compileSchema(InboundMessageSchema)
const idPattern = new RegExp(patterns.idempotencyKey)

export interface InboundMessage<Kind extends string = string> {
  id: string
  kind: Kind
  data: JsonObject
}

/** Returns the id of a message, regardless of its other faults. */
export function messageIdOf(body: JsonValue): string | undefined {
  const id = isJsonObject(body) ? body.id : undefined
  return typeof id === 'string' && idPattern.test(id) ? id : undefined
}

/**
 * Reads a message.
 *
 * @param kinds that the connection may send
 * @param problemsIn returns the problems of its `data`, with pointers relative to that
 * @throws DomainError `validation-failed` with every violation
 */
export function readMessage<Kind extends string>(
  body: JsonValue,
  kinds: readonly Kind[],
  problemsIn: (kind: Kind, data: JsonObject) => PointedError[],
): InboundMessage<Kind> {
  const { id, kind, occurred_at: occurredAt, data } = isJsonObject(body) ? body : ({} as JsonObject)
  const errors = shapeErrors(body)
  const known = kinds.find((each) => each === kind)
  if (typeof kind === 'string' && known === undefined) {
    errors.push({ pointer: '/kind', detail: `must be ${kinds.join(' or ')}: this connection accepts nothing else` })
  }
  const isTime = typeof occurredAt !== 'string' || parseTimestamp(occurredAt) !== undefined
  if (!isTime && errors.every(({ pointer }) => pointer !== '/occurred_at')) {
    const detail = 'must be an RFC 3339 timestamp, in UTC of the years 1 to 9999'
    errors.push({ pointer: '/occurred_at', detail })
  }
  if (known !== undefined && data !== undefined && isJsonObject(data)) errors.push(...below(problemsIn(known, data)))
  if (errors.length > 0) throw validationFailed(errors)
  return { id: id as string, kind: known as Kind, data: data as JsonObject }
}

/** Turns faults of `data` into faults of the message. */
export function below(errors: readonly PointedError[]): PointedError[] {
  return errors.map(({ pointer, detail }) => ({ pointer: `/data${pointer}`, detail }))
}
