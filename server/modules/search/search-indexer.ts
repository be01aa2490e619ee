import { erasureLockClass } from '../../db/advisory-locks.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import { lockTenant } from '../../db/tenant-lock.ts'
import { TenantLoop } from '../../jobs/tenant-loop.ts'
import { findRecords, includingErasable } from '../../records/record-store.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import { searchedTypes } from './record-texts.ts'
import { documentsOf } from './search-documents.ts'
import { findProgress, findUnindexed, type IndexProgress, putDocuments, putProgress } from './search-documents-store.ts'

const batch = { records: 20, bytes: 256 * 1024 }
/** Milliseconds between two checks whether a tenant has another language, and more per tenant. */
const recheckMs = { least: 60_000, perTenant: 100 }
const firstId = '00000000-0000-0000-0000-000000000000'

/** Indexes records that were stored before the index existed, or in another language. */
export class SearchIndexer {
  readonly #deps: { database: Database; directory: TenantDirectory; now: () => string }
  readonly #loop: TenantLoop
  /** When each tenant is checked next. */
  readonly #checkAtMs = new Map<string, number>()

  constructor(deps: { database: Database; directory: TenantDirectory; now: () => string; log: DatabaseLog }) {
    this.#deps = deps
    this.#loop = new TenantLoop({
      visit: async (tenantId) => ((await this.index(tenantId)) ? 0 : undefined),
      listTenants: () => this.#tenantsToCheck(),
      concurrency: 1,
      retryMs: { first: 2_000, max: 60_000 },
      log: deps.log,
      messages: {
        unavailable: 'records are not indexed for search while the database is unavailable',
        failed: 'could not index the records of a tenant for search',
        unlisted: 'could not list the tenants to index their records',
      },
    })
  }

  /** Must be called after a commit that changed the language of a tenant. Other processes notice within minutes. */
  languageChanged(tenantId: string): void {
    this.#loop.wake(tenantId)
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Indexes the next records of a tenant. Returns whether more are left. */
  async index(tenantId: string): Promise<boolean> {
    const tenant = await this.#deps.directory.find(tenantId, { evenSuspended: true })
    if (tenant === undefined) return false
    return this.#deps.database.withTenant(
      tenantId,
      async (tx) => {
        if (isFinished(await findProgress(tx))) return false
        // Erasure waits: it would not delete words that are stored after it. So does another process that indexes.
        await lockTenant(tx, erasureLockClass)
        const found = await findProgress(tx)
        if (isFinished(found)) return false
        const { language, progress } = found
        const from = progress?.language === language ? progress : begun(language)
        const sizes = await findUnindexed(tx, from.record_type, from.after_id, batch.records)
        const ids = withinBytes(sizes)
        const records = await findRecords(tx, ids, includingErasable)
        const indexed = records.map(({ record_id, record_type, canonical }) => {
          return { recordId: record_id, recordType: record_type, canonical }
        })
        await putDocuments(tx, await documentsOf(indexed, tenant.mode === 'B'))
        const next = nextOf(from, ids, this.#deps.now())
        await putProgress(tx, next)
        return next.finished_at === null
      },
      { inIndexOrder: true },
    )
  }

  async #tenantsToCheck(): Promise<string[]> {
    const slugs = await this.#deps.directory.slugs()
    const nowMs = performance.now()
    const due = slugs.filter((slug) => (this.#checkAtMs.get(slug) ?? 0) <= nowMs)
    const pauseMs = Math.max(recheckMs.least, recheckMs.perTenant * slugs.length)
    for (const slug of due) this.#checkAtMs.set(slug, nowMs + pauseMs)
    return due
  }
}

function isFinished({ language, progress }: Awaited<ReturnType<typeof findProgress>>): boolean {
  return progress?.language === language && progress.finished_at !== null
}

function begun(language: string): IndexProgress {
  return { language, record_type: searchedTypes[0]!, after_id: firstId, finished_at: null }
}

/** Returns the ids of the first records, at least one, whose texts fit into a batch. */
function withinBytes(sizes: readonly { record_id: string; bytes: number }[]): string[] {
  let bytes = 0
  return sizes
    .filter((size, at) => {
      bytes += size.bytes
      return at === 0 || bytes <= batch.bytes
    })
    .map(({ record_id }) => record_id)
}

/** Returns the place behind the records, or the next type once none is left. */
function nextOf(from: IndexProgress, ids: readonly string[], now: string): IndexProgress {
  const last = ids.at(-1)
  if (last !== undefined) return { ...from, after_id: last }
  const following = searchedTypes[searchedTypes.indexOf(from.record_type) + 1]
  if (following === undefined) return { ...from, finished_at: now }
  return { ...from, record_type: following, after_id: firstId }
}
