import type { PointedError } from '../../../contract/domain-error.ts'
import type { SkillState } from '../../../contract/literals.ts'
import type { ProblemSlug } from '../../../contract/problems.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Caller } from '../../http/caller.ts'
import type { RecordReceipt } from '../hub/hub-types.ts'

/** What telemetry of a tenant is checked against. */
export interface Catalogue {
  provisioned: boolean
  archetypeIds: ReadonlySet<string>
  skillStates: ReadonlyMap<string, SkillState>
}

/**
 * An event that has passed every check that needs nothing but itself: `ts` in UTC with six digits, the cost with six
 * decimals, absent members left out.
 */
export interface ValidEvent extends Omit<CountedEvent, 'costComputedMicros'> {
  /** In lower case, each once; undefined where the event names none. */
  relatedRecords: readonly string[] | undefined
  fields: Record<string, JsonValue>
  /** Memory that it takes until it is stored, roughly. */
  sizeBytes: number
}

/** An accepted and priced event, as the numbers count it. */
export interface CountedEvent {
  skillId: string
  archetypeId: string
  userId: string
  platform: string
  model: string | undefined
  /** Of `ts`, in milliseconds. */
  epochMs: number
  success: boolean
  latencyMs: number
  tokensIn: number
  tokensOut: number
  costEstimateMicros: number
  /** Undefined when the event has no price. */
  costComputedMicros: number | undefined
}

/** Why an event is refused. Pointers are relative to the event. */
export interface Refusal {
  slug: Extract<ProblemSlug, 'validation-failed' | 'skill-not-registered'>
  errors: PointedError[]
}

/** An entry of `errors`: a problem document's members for one event of the batch. */
export interface BatchError {
  index: number
  type: string
  title: string
  status: number
  detail: string
  pointer: string
}

export type IndexedReceipt = RecordReceipt & { index: number }

export interface BatchAnswer {
  accepted: number
  failed: number
  records: IndexedReceipt[]
  errors?: BatchError[]
  /** Refused events that `errors` does not list. */
  errors_omitted?: number
}

/**
 * What is kept to answer a repeated batch. With the body, which the caller sends again, and with what was true then,
 * the same answer follows; so no text is kept that could repeat content.
 */
export interface BatchFacts {
  nowMs: number
  /** Of the accepted events, in order. */
  recordIds: string[]
  /** Places of the refused events, in order. */
  refusedIndexes: number[]
  /** Ids that sound events referred to in vain. */
  unknownArchetypes: string[]
  unregisteredSkills: string[]
  unknownRecords: string[]
}

/** An answer, and whether it is that of an earlier request with the same Idempotency-Key. */
interface Ingested<Answer> {
  answer: Answer
  replayed: boolean
}

export interface Telemetry {
  /** What is wrong with an event by itself, whatever skills and archetypes there are. Pointers are relative to it. */
  problemsIn(event: JsonValue): PointedError[]
  /**
   * Stores one event. Throws `content-not-allowed`, `validation-failed`, `hub-not-provisioned`,
   * `skill-not-registered`, `idempotency-conflict`.
   */
  ingestEvent(caller: Caller, body: JsonValue, idempotencyKey: string | undefined): Promise<Ingested<RecordReceipt>>
  /**
   * Stores the events that pass, each on its own. Throws for the request as a whole: `content-not-allowed`,
   * `validation-failed`, `batch-too-large`, `hub-not-provisioned`, `idempotency-conflict`.
   */
  ingestBatch(caller: Caller, body: JsonValue, idempotencyKey: string | undefined): Promise<Ingested<BatchAnswer>>
}
