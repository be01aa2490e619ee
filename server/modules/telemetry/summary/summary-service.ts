import type { Static } from 'typebox'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Metrics } from '../rollups/rollup-cells.ts'
import { quarterHourMs } from '../rollups/rollup-types.ts'
import { readSummaryQuery } from './summary-query.ts'
import { readMetrics } from './summary-reader.ts'
import { reconciliationNumbers, summaryNumbers } from './summary-response.ts'
import type { MetricsRow } from './summary-rows.ts'
import type { ReconciliationPage, RowPlace, SummaryPage, SummaryQuery } from './summary-schemas.ts'
import type { RowPosition, SummaryRequest } from './summary-types.ts'

/** Summarises telemetry. Both methods throw `validation-failed` and `invalid-cursor`. */
export interface TelemetrySummaries {
  summarize(tenant: Tenant, query: SummaryQuery): Promise<Static<typeof SummaryPage>>
  reconcile(tenant: Tenant, query: SummaryQuery): Promise<Static<typeof ReconciliationPage>>
}

interface Kind<Numbers> {
  operation: 'summarizeTelemetry' | 'reconcileTelemetry'
  latencies: boolean
  numbersOf: (metrics: Metrics) => Numbers
}

/**
 * The position after which a page begins, in the range of the first page. The key is in base64url: JSON writes control
 * characters six times as long, which could exceed the length of a cursor.
 */
type CursorPayload = [first: number, end: number, start: number, key: string]

export function createTelemetrySummaries(
  deps: Pick<ModuleParts, 'database' | 'cursorKey'> & { nowMs?: () => number },
): TelemetrySummaries {
  const { database, cursorKey, nowMs = Date.now } = deps

  async function pageOf<Numbers>(
    tenant: Tenant,
    query: SummaryQuery,
    { operation, latencies, numbersOf }: Kind<Numbers>,
  ) {
    const { limit = pageSizeDefault, cursor } = query
    const binding = bindingOf(tenant, operation, query)
    const opened = cursor === undefined ? undefined : readCursor(cursorKey, binding, cursor)
    const request = readSummaryQuery(query, nowMs(), opened?.range)
    const { rows, hasMore, totals } = await readTenant(
      database,
      tenant.slug,
      (tx) => readMetrics(tx, request, { after: opened?.after, limit, latencies }),
      { snapshot: true, summary: true, onReplica: true },
    )
    const last = rows.at(-1)
    return {
      rows: rows.map((row) => ({ ...placeOfRow(row, query), ...numbersOf(row.metrics) })),
      totals: numbersOf(totals),
      next_cursor: hasMore && last ? signCursor(cursorKey, binding, payloadOf(request, last)) : null,
    }
  }

  return {
    summarize: (tenant, query) =>
      pageOf(tenant, query, { operation: 'summarizeTelemetry', latencies: true, numbersOf: summaryNumbers }),
    reconcile: (tenant, query) =>
      pageOf(tenant, query, { operation: 'reconcileTelemetry', latencies: false, numbersOf: reconciliationNumbers }),
  }
}

function placeOfRow({ start, key }: MetricsRow, { interval, group_by }: SummaryQuery): RowPlace {
  return {
    ...(interval ? { start: formatTimestamp(start * quarterHourMs) } : {}),
    ...(group_by === undefined ? {} : { key: key === '' ? null : key }),
  }
}

/** The page size is not bound: a reader may change it between pages. */
function bindingOf(tenant: Tenant, operation: string, query: SummaryQuery): CursorBinding {
  const { cursor: _cursor, limit: _limit, time_zone = 'UTC', ...parameters } = query
  return { tenant: tenant.slug, operation, query: { ...parameters, time_zone } }
}

function payloadOf({ range }: SummaryRequest, { start, key }: RowPosition): CursorPayload {
  return [range.first, range.end, start, Buffer.from(key).toString('base64url')]
}

function readCursor(key: Buffer, binding: CursorBinding, cursor: string) {
  const [first, end, start, keyOfRow] = openCursor(key, binding, cursor) as CursorPayload
  return { range: { first, end }, after: { start, key: Buffer.from(keyOfRow, 'base64url').toString() } }
}
