import type { Static } from 'typebox'
import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { pageSizeDefault } from '../../../../contract/limits.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { type CursorBinding, openCursor, signCursor } from '../../../http/cursor.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { recordIdFloor } from '../../../records/record-clock.ts'
import type { TenantPrices } from '../prices/tenant-prices.ts'
import { type ExceptionsRequest, readExceptions } from './exceptions-reader.ts'
import { type ExceptionsPage, type ExceptionsQuery, tolerancePercentDefault } from './exceptions-schemas.ts'

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
    const errors: PointedError[] = []
    const idBound = (name: 'created_at__gte' | 'created_at__lt') => {
      const text = query[name]
      if (text === undefined) return undefined
      const time = parseTimestamp(text)
      if (time) return recordIdFloor(time.epochMs, time.microsOfMs)
      const detail = 'must be an RFC 3339 timestamp; a `+` is written %2B in a query'
      errors.push({ pointer: `/query/${name}`, detail })
      return undefined
    }
    const { kind, tolerance = tolerancePercentDefault, limit = pageSizeDefault, ...filters } = query
    const fromId = idBound('created_at__gte')
    const belowId = idBound('created_at__lt')
    if (errors.length > 0) throw validationFailed(errors)
    return { kind, tolerance, limit, filters, fromId, belowId, afterId }
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
