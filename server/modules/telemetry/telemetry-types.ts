import type { Static } from 'typebox'
import type { PointedError } from '../../../contract/domain-error.ts'
import type { SkillState } from '../../../contract/literals.ts'
import type { ProblemSlug } from '../../../contract/problems.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { Caller, Tenant } from '../../http/caller.ts'
import type { RecordReceipt } from '../records/records-types.ts'
import type { BatchResponseSchema } from './telemetry-schemas.ts'

/** The data that telemetry of a tenant is checked against. */
export interface Catalogue {
  provisioned: boolean
  archetypeIds: ReadonlySet<string>
  skillStates: ReadonlyMap<string, SkillState>
}

/**
 * An event that passed every check that needs only the event: `ts` in UTC with six fractional digits, the cost with six
 * decimals, absent members omitted.
 */
export interface ValidEvent extends Omit<CountedEvent, 'costComputedMicros'> {
  /** The ids in lower case, each once; undefined if the event names none. */
  relatedRecords: readonly string[] | undefined
  fields: Record<string, JsonValue>
  /** Approximate bytes of memory until it is stored. */
  sizeBytes: number
}

/** An accepted and priced event, in the form that rollups count. */
export interface CountedEvent {
  skillId: string
  archetypeId: string
  userId: string
  platform: string
  model: string | undefined
  /** `ts` in milliseconds. */
  epochMs: number
  /** Undefined for an event that succeeded. */
  errorCode: string | undefined
  latencyMs: number
  tokensIn: number
  tokensOut: number
  costEstimateMicros: number
  /** Undefined if the event has no price. */
  costComputedMicros: number | undefined
}

/** The reason for refusing an event. Pointers are relative to the event. */
export interface Rejection {
  slug: Extract<ProblemSlug, 'validation-failed' | 'skill-not-registered'>
  errors: PointedError[]
}

export type BatchResponse = Static<typeof BatchResponseSchema>

/**
 * The stored facts for a repeated batch, as JSON. The body, which the caller sends again, and these facts give the same
 * response. So no text is stored that could repeat content.
 */
export type BatchFacts = {
  now_ms: number
  /** The ids of the accepted events' records, in order. */
  record_ids: string[]
  /** The indexes of the refused events, in order. */
  refused: number[]
  /** Ids in valid events that refer to nothing. */
  unknown_archetypes: string[]
  unregistered_skills: string[]
  unknown_records?: string[]
}

/** A response, and whether it is that of an earlier request with the same Idempotency-Key. */
interface Ingested<Answer> {
  answer: Answer
  replayed: boolean
}

/** An event with a key of its own: events with the same key are stored once within 24 hours. */
export interface KeyedEvent {
  key: string
  /** Without `cost_usd_estimate` if the sender named no cost: the estimate is then the calculated cost. */
  event: JsonObject
}

/** The result of storing keyed events. */
export interface KeyedResponse {
  stored: number
  /** The number of events whose keys were used before. */
  repeated: number
  /** The reasons by index. */
  refused: ReadonlyMap<number, Rejection>
}

/** Stores events of senders that cannot send an Idempotency-Key. */
export interface KeyedIngest {
  /** Returns those skills that are not registered. */
  unregisteredSkills(tenant: Tenant, skillIds: ReadonlySet<string>): Promise<string[]>
  /** Stores the valid events, each independently. Throws `hub-not-provisioned` for all of them. */
  ingestKeyed(caller: Caller, events: readonly KeyedEvent[]): Promise<KeyedResponse>
}

export interface Telemetry extends KeyedIngest {
  /** Returns the faults of an event itself, regardless of skills and archetypes. Pointers are relative to it. */
  problemsIn(event: JsonValue): PointedError[]
  /**
   * Stores one event. Throws `content-not-allowed`, `validation-failed`, `hub-not-provisioned`, `skill-not-registered`,
   * `idempotency-conflict`.
   */
  ingestEvent(caller: Caller, body: JsonValue, idempotencyKey: string | undefined): Promise<Ingested<RecordReceipt>>
  /**
   * Stores the valid events of a batch, each independently. Throws for the request as a whole: `content-not-allowed`,
   * `validation-failed`, `batch-too-large`, `hub-not-provisioned`, `idempotency-conflict`.
   */
  ingestBatch(caller: Caller, body: JsonValue, idempotencyKey: string | undefined): Promise<Ingested<BatchResponse>>
}
