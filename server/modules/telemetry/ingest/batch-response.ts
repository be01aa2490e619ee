import { batchErrorsMax } from '../../../../contract/limits.ts'
import { problems } from '../../../../contract/problems.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/index.ts'
import type { BatchAnswer, BatchError, BatchFacts, IndexedReceipt, Refusal } from '../telemetry-types.ts'

/** Maximum number of characters that explain one refused event. A hundred faults fit unless their names are long. */
const detailLengthMax = 16 * 1024

export function factsAsJson(facts: BatchFacts): JsonValue {
  return {
    now_ms: facts.nowMs,
    record_ids: facts.recordIds,
    refused: facts.refusedIndexes,
    unknown_archetypes: facts.unknownArchetypes,
    unregistered_skills: facts.unregisteredSkills,
    ...(facts.unknownRecords.length > 0 && { unknown_records: facts.unknownRecords }),
  }
}

/** Parses the facts of {@link factsAsJson}. */
export function factsOfJson(json: JsonValue): BatchFacts {
  if (!isJsonObject(json)) throw new Error('the stored answer of a batch is not an object')
  return {
    nowMs: json.now_ms as number,
    recordIds: json.record_ids as string[],
    refusedIndexes: json.refused as number[],
    unknownArchetypes: json.unknown_archetypes as string[],
    unregisteredSkills: json.unregistered_skills as string[],
    unknownRecords: (json.unknown_records ?? []) as string[],
  }
}

/** @param refused the index and reason of each refused event, in order */
export function toBatchResponse(
  baseUrl: string,
  records: IndexedReceipt[],
  refused: ReadonlyMap<number, Refusal>,
): BatchAnswer {
  const listed = [...refused].slice(0, batchErrorsMax)
  const errors = listed.map(([index, refusal]) => batchError(baseUrl, index, refusal))
  const omitted = refused.size - errors.length
  return {
    accepted: records.length,
    failed: refused.size,
    records,
    ...(errors.length > 0 && { errors }),
    ...(omitted > 0 && { errors_omitted: omitted }),
  }
}

function batchError(baseUrl: string, index: number, refusal: Refusal): BatchError {
  const { title, status } = problems[refusal.slug]
  const pointerOf = (pointer: string) => `/events/${index}${pointer}`
  return {
    index,
    type: `${baseUrl}/errors/${refusal.slug}`,
    title,
    status,
    detail: joinedUpTo(refusal.errors.map(({ pointer, detail }) => `${pointerOf(pointer)} ${detail}`)),
    pointer: pointerOf(refusal.errors[0]!.pointer),
  }
}

/** Joins faults up to the maximum length, but at least one, and counts the others. */
function joinedUpTo(faults: readonly string[]): string {
  let length = 0
  const listed = faults.filter((fault, at) => {
    length += fault.length
    return at === 0 || length <= detailLengthMax
  })
  const others = faults.length - listed.length
  return `${listed.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}
