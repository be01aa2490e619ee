import { hash } from 'node:crypto'
import { DomainError, type PointedError, validationFailed } from '../../contract/domain-error.ts'
import { batchErrorsMax } from '../../contract/limits.ts'
import { patterns, patternWords } from '../../contract/literals.ts'
import { problems } from '../../contract/problems.ts'
import { canonicalize, type JsonValue } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { checkContent, eventsOf, readEvent } from '../../server/modules/telemetry/ingest/event-check.ts'
import type { SpoolIntake, StoredSubmission, Submission } from './spool-intake.ts'

export type EventIntake = ReturnType<typeof createEventIntake>

export const eventPath = '/api/v1/telemetry/events'
export const batchPath = '/api/v1/telemetry/events:batch'

const keyPattern = new RegExp(patterns.idempotencyKey)

/**
 * Creates the intake of events. It makes the checks that the Hub makes for a Mode C tenant before it reads its
 * catalogue: the envelope of interface 2.3 and no other members. Only the Hub can check references (skill, archetype).
 */
export function createEventIntake(deps: { tenant: string; hubUrl: string; spool: SpoolIntake }) {
  const { hubUrl, spool } = deps
  const tenant: Tenant = { slug: deps.tenant, mode: 'C', baseUrl: hubUrl, hasOwnAddress: false, logName: '' }

  return {
    /** Throws `content-not-allowed`, `validation-failed`, `idempotency-conflict`, `hub-unavailable`. */
    async takeEvent(body: JsonValue, idempotencyKey: string | undefined): Promise<StoredSubmission> {
      checkContent(tenant, body)
      const reading = readEvent(body, Date.now())
      if (Array.isArray(reading)) throw validationFailed(reading)
      return spool.keep({
        events: [JSON.stringify(body)],
        ...requestOf(idempotencyKey, eventPath, body),
        answerOf: ([sequence]) => ({ accepted: 1, failed: 0, events: [{ index: 0, sequence }] }),
      })
    },

    /** Throws the same errors, and `batch-too-large`, for the request as a whole. */
    async takeBatch(body: JsonValue, idempotencyKey: string | undefined): Promise<StoredSubmission> {
      const events = eventsOf(tenant, body)
      const now = Date.now()
      const sound: number[] = []
      const errors: ReturnType<typeof eventError>[] = []
      for (const [index, event] of events.entries()) {
        const reading = readEvent(event, now)
        if (!Array.isArray(reading)) sound.push(index)
        else if (errors.length < batchErrorsMax) errors.push(eventError(hubUrl, index, reading))
      }
      const omitted = events.length - sound.length - errors.length
      return spool.keep({
        events: sound.map((index) => JSON.stringify(events[index])),
        ...requestOf(idempotencyKey, batchPath, body),
        answerOf: (sequences) => ({
          accepted: sound.length,
          failed: events.length - sound.length,
          events: sequences.map((sequence, at) => ({ index: sound[at], sequence })),
          ...(errors.length > 0 && { errors }),
          ...(omitted > 0 && { errors_omitted: omitted }),
        }),
      })
    },
  }
}

function requestOf(key: string | undefined, path: string, body: JsonValue): Pick<Submission, 'request'> {
  if (key === undefined) return {}
  if (!keyPattern.test(key)) {
    throw validationFailed([
      { pointer: '/headers/idempotency-key', detail: `must be ${patternWords[patterns.idempotencyKey]}` },
    ])
  }
  const requestDigest = hash('sha256', `${path}\n${canonicalize(body)}`, 'buffer')
  return { request: { keyDigest: hash('sha256', key, 'buffer'), requestDigest } }
}

/** Returns a rejected event of a batch as the Hub's response does. */
function eventError(hubUrl: string, index: number, errors: readonly PointedError[]) {
  const { title, status } = problems['validation-failed']
  const pointerOf = (pointer: string) => `/events/${index}${pointer}`
  return {
    index,
    type: `${hubUrl}/errors/validation-failed`,
    title,
    status,
    detail: errors.map(({ pointer, detail }) => `${pointerOf(pointer)} ${detail}`).join('; '),
    pointer: pointerOf(errors[0]!.pointer),
  }
}

/** Returns the body of a request that requires one. */
export function bodyOf(body: unknown): JsonValue {
  if (body !== undefined) return body as JsonValue
  const detail = 'is required: send a JSON body'
  throw new DomainError('validation-failed', `The body ${detail}.`, { errors: [{ pointer: '', detail }] })
}
