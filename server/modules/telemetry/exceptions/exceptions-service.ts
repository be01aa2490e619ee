import type { Static } from 'typebox'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { usdOfMicros } from '../../../../contract/money.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { creationBounds } from '../../../records/record-clock.ts'
import type { PriceBook } from '../prices/list-price-book.ts'
import type { TenantPrices } from '../prices/tenant-prices.ts'
import { type ReadEvent, readStoredEvent } from '../stored-event.ts'
import { ratioOf } from '../summary/summary-response.ts'
import {
  type CostException,
  type ExceptionsPage,
  type ExceptionsQuery,
  tolerancePercentDefault,
} from './exceptions-schemas.ts'
import { type ScanIndex, type ScannedRecord, scanRecords } from './exceptions-store.ts'

/** Lists events without a price, or whose reported and calculated costs differ. */
export interface CostExceptions {
  /** Returns a page in the order of storage. Throws `validation-failed` and `invalid-cursor`. */
  list(tenant: Tenant, query: ExceptionsQuery): Promise<Static<typeof ExceptionsPage>>
}

export function createCostExceptions(
  deps: Pick<ModuleParts, 'database' | 'cursorKey'> & { prices: Pick<TenantPrices, 'freshBookOf'> },
): CostExceptions {
  const { database, prices, cursorKey } = deps

  function requestOf(query: ExceptionsQuery, afterId: string | undefined): ExceptionsRequest {
    const { kind, tolerance = tolerancePercentDefault, limit = pageSizeDefault, ...filters } = query
    return { kind, tolerance, limit, filters, ...creationBounds(query), afterId }
  }

  return {
    async list(tenant, query) {
      const binding = bindingOf(tenant, query)
      const afterId = query.cursor === undefined ? undefined : String(openCursor(cursorKey, binding, query.cursor))
      const request = requestOf(query, afterId)
      // A caller that has just set a price must see its effect in every process.
      const book = await prices.freshBookOf(tenant.slug)
      const { items, lastId } = await readTenant(database, tenant.slug, (tx) => readExceptions(tx, request, book), {
        inIndexOrder: true,
        onReplica: true,
      })
      return { items, next_cursor: lastId === undefined ? null : signCursor(cursorKey, binding, lastId) }
    },
  }
}

/** The page size is not bound: a reader may change it between pages. */
function bindingOf(tenant: Tenant, query: ExceptionsQuery): CursorBinding {
  const { cursor: _cursor, limit: _limit, tolerance = tolerancePercentDefault, ...parameters } = query
  return { tenant: tenant.slug, operation: 'listCostExceptions', query: { ...parameters, tolerance } }
}

/** Maximum number of records that one request reads, even if few of them are exceptions. */
export const scannedMax = 10_000
const scannedAtFirst = 200
const scannedAtOnce = 2000

type Filters = Pick<ExceptionsQuery, 'skill_id' | 'archetype_id' | 'user_id' | 'llm_platform' | 'llm_model'>

interface ExceptionsRequest {
  kind: ExceptionsQuery['kind']
  /** The tolerance in percent. */
  tolerance: number
  filters: Filters
  /** The record at which the first page begins. */
  fromId: string | undefined
  /** The record after which a later page begins. */
  afterId: string | undefined
  belowId: string | undefined
  limit: number
}

interface FoundExceptions {
  items: CostException[]
  /** The record after which the next page begins; undefined at the end of the list. */
  lastId: string | undefined
}

/**
 * Reads the next exceptions, in a transaction of `inIndexOrder`. A page is shorter than requested if they are too far
 * apart.
 */
async function readExceptions(tx: TenantTx, request: ExceptionsRequest, book: PriceBook): Promise<FoundExceptions> {
  const { limit, belowId, fromId, filters } = request
  const items: CostException[] = []
  const index = indexFor(filters)
  const yieldIfLong = createEventLoopYielder()
  let above = firstBound(request.afterId, fromId)
  let left = scannedMax
  for (let size = scannedAtFirst; left > 0; size = scannedAtOnce) {
    const asked = Math.min(Math.max(size, Math.min(limit, scannedAtOnce)), left)
    const records = await scanRecords(tx, { index, above, belowId, limit: asked })
    for (const record of records) {
      const found = exceptionIn(record, request, book)
      // An item beyond the limit proves that a next page exists.
      if (found && items.length === limit) return { items, lastId: items.at(-1)!.record_id }
      if (found) items.push(found)
      await yieldIfLong()
    }
    if (records.length < asked) return { items, lastId: undefined }
    above = { operator: '>', recordId: records.at(-1)!.recordId }
    left -= records.length
  }
  return { items, lastId: above?.recordId }
}

function firstBound(afterId: string | undefined, fromId: string | undefined) {
  if (afterId !== undefined) return { operator: '>' as const, recordId: afterId }
  return fromId === undefined ? undefined : { operator: '>=' as const, recordId: fromId }
}

/** Selects the index by the filter that matches least; the other filters are applied afterwards. */
function indexFor({ user_id, skill_id, archetype_id }: Filters): ScanIndex {
  if (user_id !== undefined) return { column: 'user_id', value: user_id }
  if (skill_id !== undefined) return { column: 'skill_id', value: skill_id }
  if (archetype_id !== undefined) return { column: 'archetype_id', value: archetype_id }
  return { column: 'record_type', value: 'telemetry_event' }
}

function exceptionIn(
  record: ScannedRecord,
  { kind, tolerance, filters }: ExceptionsRequest,
  book: PriceBook,
): CostException | undefined {
  const { canonical } = record
  const event = canonical === null ? undefined : readStoredEvent({ ...record, canonical })
  if (!event || !matches(event, filters)) return undefined
  const found = exceptionOf(record, event, book, tolerance)
  return kind === undefined || found?.kind === kind ? found : undefined
}

function matches(event: ReadEvent, filters: Filters): boolean {
  const names = ['skill_id', 'archetype_id', 'user_id', 'llm_platform', 'llm_model'] as const
  return names.every((name) => filters[name] === undefined || event[name] === filters[name])
}

type Priced = ReadEvent & { computedMicros: number }

/** Returns the problem of an event's costs, or undefined. `tolerance` is in percent of the calculated cost. */
function exceptionOf(
  stored: ScannedRecord,
  event: ReadEvent,
  book: PriceBook,
  tolerance: number,
): CostException | undefined {
  if (!isPriced(event)) return { ...factsOf(stored, event), kind: 'unpriced', reason: reasonOf(event, book) }
  if (!diverges(event, tolerance)) return undefined
  const { estimateMicros, computedMicros } = event
  const varianceMicros = estimateMicros - computedMicros
  const source = stored.rated ? stored.ratedSource : event.price_source
  return {
    ...factsOf(stored, event),
    cost_usd_computed: usdOfMicros(computedMicros),
    ...(source == null ? {} : { price_source: source }),
    kind: 'divergent',
    reason: `differs_by_more_than_${tolerance}_percent`,
    variance_usd: usdOfMicros(varianceMicros),
    ...(computedMicros === 0 ? {} : { variance_ratio: ratioOf(BigInt(varianceMicros), BigInt(computedMicros)) }),
  }
}

function isPriced(event: ReadEvent): event is Priced {
  return event.computedMicros !== undefined
}

function reasonOf({ llm_platform, llm_model, exactMs, tokens_in, tokens_out }: ReadEvent, book: PriceBook): string {
  if (llm_model === undefined) return 'no_model'
  return book.explain(llm_platform, llm_model, exactMs, tokens_in, tokens_out) ?? 'price_known_since'
}

/** Compares whole numbers: percent of micro-dollars in parts of a million. */
function diverges({ estimateMicros, computedMicros }: Priced, tolerance: number): boolean {
  const off = BigInt(Math.abs(estimateMicros - computedMicros))
  return off * 100_000_000n > BigInt(Math.round(tolerance * 1_000_000)) * BigInt(computedMicros)
}

function factsOf({ recordId }: ScannedRecord, event: ReadEvent) {
  const { ts, created_at, skill_id, archetype_id, user_id, llm_platform, llm_model, tokens_in, tokens_out } = event
  return {
    record_id: recordId,
    ...{ ts, created_at, skill_id, archetype_id, user_id, llm_platform },
    ...(llm_model === undefined ? {} : { llm_model }),
    ...{ tokens_in, tokens_out, cost_usd_estimate: usdOfMicros(event.estimateMicros) },
  }
}
