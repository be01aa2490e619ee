import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '../../../../contract/domain-error.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { TenantLogs } from '../../log/log-types.ts'
import type {
  LogIndexRange,
  RecordSelection,
  RowPosition,
  SealedRecords,
  SelectedEntry,
  SelectedRows,
} from '../../sealing/sealed-records-types.ts'
import type { StoredVerification, Verification } from '../../verification/verification-types.ts'
import type { EntryPart, PartPages } from './export-parts-types.ts'

export interface PartsRequest {
  tenant: Tenant
  span: LogIndexRange
  selection: RecordSelection
  /** Whether the cosignatures of the records are needed. */
  withCosign: boolean
  verify: boolean
  signal: AbortSignal
}

interface PartsDeps extends Pick<ModuleParts, 'database' | 'logs'> {
  records: SealedRecords
  verification: StoredVerification
}

const onReplica = { onReplica: true } as const
const pageRecords = 1024
/**
 * Number of records composed at once: they are used and freed before the next ones are composed. In between the event
 * loop runs other work, and the next page arrives; otherwise the database would wait.
 */
const batchRecords = 128
const verifiedPageRecords = 1024
const pageEntries = { first: 32, min: 16, max: 1000 }
/** Maximum number of attempts of a verification that finds the verifier busy. */
const checkAttemptsMax = 60

/**
 * Yields the log between two positions in pages. Each page is read in a short transaction of its own while the one
 * before is used.
 */
export function entryParts(deps: PartsDeps, request: PartsRequest): PartPages {
  return request.verify ? rowParts(deps, request) : textParts(deps, request)
}

interface TextPage {
  span: LogIndexRange
  /** Entries by index in the log. */
  entries: Map<number, SelectedEntry>
  leaves: Map<number, Uint8Array>
}

async function* textParts(deps: PartsDeps, request: PartsRequest): PartPages & AsyncGenerator<EntryPart[]> {
  const { database, records } = deps
  const { tenant, span, selection, withCosign } = request
  let count = pageEntries.first

  const readPage = (from: number): Promise<TextPage> =>
    readTenant(
      database,
      tenant.slug,
      async (tx) => {
        const asked = { from, to: Math.min(from + count, span.to) }
        const found = await records.selectedEntries(tx, asked, selection)
        const entries = new Map(found.map((entry) => [entry.logIndex, entry]))
        const read = { from, to: isCut(found, asked) ? found.at(-1)!.logIndex + 1 : asked.to }
        return { span: read, entries, leaves: await leavesWithoutRows(tx, deps.logs, read, entries) }
      },
      onReplica,
    )

  for await (const page of ahead(span, readPage, request.signal)) {
    const { from, to } = page.span
    let parts: EntryPart[] = []
    let composed = 0
    let leafCount = 0
    for (let logIndex = from; logIndex < to; logIndex++) {
      const entry = page.entries.get(logIndex)
      const proven = entry ? records.provenRecords(entry, withCosign, selection.recordTypes) : []
      if (proven === undefined) {
        yield parts
        parts = []
        yield* rowParts(deps, { ...request, span: { from: logIndex, to: logIndex + 1 } })
        continue
      }
      const seal = entry?.seal
      leafCount += (seal?.leaves.length ?? 32) / 32
      parts.push({ logIndex, seal, logLeaf: page.leaves.get(logIndex), records: proven, isLast: true })
      composed += proven.length
      if (composed < batchRecords) continue
      yield parts
      await breathe()
      parts = []
      composed = 0
    }
    yield parts
    count = entriesFor(pageRecords, leafCount / (to - from))
  }
}

/** Returns whether the page ended early, because the rest is too large for one page. */
function isCut(found: readonly SelectedEntry[], asked: LogIndexRange): boolean {
  return found.length > 0 && found.length < asked.to - asked.from && found.at(-1)!.logIndex < asked.to - 1
}

function entriesFor(wanted: number, leavesPerEntry: number): number {
  const entries = Math.round(wanted / Math.max(1, leavesPerEntry))
  return Math.max(pageEntries.min, Math.min(pageEntries.max, entries))
}

/** Reads the leaves of entries that may have no row. */
async function leavesWithoutRows(
  tx: TenantTx,
  logs: TenantLogs,
  { from, to }: LogIndexRange,
  entries: ReadonlyMap<number, SelectedEntry>,
): Promise<Map<number, Uint8Array>> {
  const hasText = (entry: SelectedEntry | undefined) => entry?.seal && entry.texts && entry.texts.canonical.length > 0
  for (let logIndex = from; logIndex < to; logIndex++) {
    if (!hasText(entries.get(logIndex))) return leavesOf(tx, logs, { from, to })
  }
  return new Map()
}

async function leavesOf(tx: TenantTx, logs: TenantLogs, { from, to }: LogIndexRange): Promise<Map<number, Uint8Array>> {
  const leaves = await logs.leaves(tx, from, to)
  return new Map(leaves.map((leaf, at) => [from + at, leaf]))
}

type RowPage = SelectedRows & {
  span: LogIndexRange
  after: RowPosition | undefined
  leaves: Map<number, Uint8Array>
  check: (() => Promise<Verification[]>) | undefined
}

async function* rowParts(deps: PartsDeps, request: PartsRequest): PartPages & AsyncGenerator<EntryPart[]> {
  const { database, records, verification, logs } = deps
  const { tenant, span, selection, verify, signal } = request
  let count = pageEntries.first
  let reading: Promise<RowPage> | undefined

  const readPage = (from: number, after: RowPosition | undefined): Promise<RowPage> =>
    readTenant(
      database,
      tenant.slug,
      async (tx) => {
        const asked = { from, to: Math.min(from + count, span.to) }
        const found = await records.selectedRows(tx, asked, selection, after)
        const leaves = await leavesOf(tx, logs, asked)
        const check = verify ? await verification.prepare(tx, tenant, found.rows) : undefined
        return { ...found, span: asked, after, leaves, check }
      },
      verify ? {} : onReplica,
    )

  try {
    let page: RowPage | undefined = span.from < span.to ? await readPage(span.from, undefined) : undefined
    while (page) {
      signal.throwIfAborted()
      const { next } = page
      const end: number = next ? next.logIndex : page.span.to
      reading = end < span.to ? readPage(end, next) : undefined
      // The rejection is handled when the page is awaited, if ever.
      reading?.catch(() => {})
      const verifications = page.check && (await checked(page.check, signal))
      yield partsOfRows(records, tenant.slug, page, verifications)
      count = entriesFor(verifiedPageRecords, page.rows.length / (end - page.span.from + 1))
      page = await reading
    }
  } finally {
    await reading?.catch(() => {})
  }
}

function partsOfRows(
  records: SealedRecords,
  tenantId: string,
  page: RowPage,
  verifications: readonly Verification[] | undefined,
): EntryPart[] {
  const proven = records.provenRows(tenantId, page).map((record, at) => {
    const verification = verifications?.[at]
    return verification ? { ...record, verification } : record
  })
  const byEntry = Map.groupBy(proven.keys(), (at) => page.rows[at]!.log_index)
  const { span, next } = page
  const parts: EntryPart[] = []
  for (let logIndex = span.from; logIndex < span.to && logIndex <= (next?.logIndex ?? span.to); logIndex++) {
    const sealId = page.sealIds.get(logIndex)
    parts.push({
      logIndex,
      seal: sealId === undefined ? undefined : page.seals.get(sealId),
      logLeaf: page.leaves.get(logIndex),
      records: (byEntry.get(logIndex) ?? []).map((at) => proven[at]!),
      isLast: logIndex !== next?.logIndex,
    })
  }
  return parts
}

/** Reads each page while the one before is used. */
async function* ahead<Page extends { span: LogIndexRange }>(
  { from, to }: LogIndexRange,
  readPage: (from: number) => Promise<Page>,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  let reading = from < to ? readPage(from) : undefined
  try {
    while (reading) {
      const page: Page = await reading
      signal.throwIfAborted()
      reading = page.span.to < to ? readPage(page.span.to) : undefined
      // The rejection is handled when the page is awaited, if ever.
      reading?.catch(() => {})
      yield page
    }
  } finally {
    await reading?.catch(() => {})
  }
}

/** Verifies a page. It waits while the verifier is busy with the work of others. */
async function checked(check: () => Promise<Verification[]>, signal: AbortSignal): Promise<Verification[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await check()
    } catch (error) {
      const mayWait = isUnavailable(error) && attempt < checkAttemptsMax
      if (!mayWait) throw error
      await sleep(1000 * (error.retryAfterSeconds ?? 1), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}
