import { DomainError } from '../../../contract/domain-error.ts'
import { FairQueue } from '../../db/fair-queue.ts'
import type { Tenant } from '../../http/caller.ts'

/**
 * Maximum size of a page that does not queue. A page of 1,000 records keeps the process busy for tens of milliseconds.
 */
const smallPageMax = 200
const pagesAtOnce = { all: 4, ofTenant: 2 } as const
const waitMs = 30_000

/**
 * Shares the process between tenants that read large pages, so that one tenant's many pages do not delay the others.
 */
export interface PageTurns {
  /**
   * Reads a page. A large page first waits for a slot of the tenant.
   *
   * @throws DomainError `hub-unavailable` after too long a wait
   */
  take<Page>(tenant: Tenant, limit: number, read: () => Promise<Page>): Promise<Page>
}

export function createPageTurns(): PageTurns {
  const { all, ofTenant } = pagesAtOnce
  const queue = new FairQueue({ slots: all, ofTenant, classes: { page: { all, ofTenant, waitMs, rejection } } })
  return {
    async take({ slug }, limit, read) {
      if (limit <= smallPageMax) return read()
      await queue.enter(slug, 'page')
      try {
        return await read()
      } finally {
        queue.leave(slug, 'page')
      }
    },
  }
}

function rejection(): DomainError {
  const detail =
    `The tenant reads too many pages of more than ${smallPageMax} records at a time: this one has waited for ` +
    `${waitMs / 1000} s. Read one after the other, or smaller ones.`
  return new DomainError('hub-unavailable', detail, { retryAfterSeconds: 5, logged: false })
}
