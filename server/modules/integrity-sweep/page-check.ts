import { equalBytes } from '../../../provenance/bytes.ts'
import { type CheckedEntry, type CheckedPage, checkPage, type PageEvidence } from '../../../provenance/log-verifier.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { sealOf } from '../../records/record-cosign.ts'
import type { SealedRow, StoredSeal } from '../../records/record-rows.ts'
import { findRecords, includingErasable } from '../../records/record-store.ts'
import type { LogEntry, LogHead } from '../log/log-types.ts'
import type { RecordsOfEntries, SealedRecords } from '../sealing/sealed-records-types.ts'
import type {
  ErasedContentCheck,
  ErasedContents,
  StoredVerification,
  Verification,
} from '../verification/verification-types.ts'
import { checkChange, checkTombstone, parseStateChange, type StateChange } from './event-check.ts'
import { listed, listedMax } from './finding.ts'
import {
  findLeafCounts,
  findRecordStatuses,
  findTombstonesOfSeals,
  type StandingRow,
  type TombstoneRow,
} from './sweep-store.ts'
import type { Finding, SweepCheck } from './sweep-types.ts'

export interface PageChecked {
  /** The number of log indexes that the page covers, with or without an entry; 0 at the end. */
  places: number
  checked: number
  /** The number of records that failed, and of leaves without a record or tombstone. */
  failed: number
  findings: Finding[]
}

type LeafClaim = Pick<SealedRow, 'record_id' | 'seal_id' | 'leaf_index'>

/** All data about some entries of the log, from one snapshot. */
interface PageRead {
  places: number
  log: PageEvidence<LogEntry, LeafClaim>
  stored: RecordsOfEntries
  /** The records whose content was destroyed with its key. */
  erased: ErasedContents
  tombstones: TombstoneRow[]
  standings: ReadonlyMap<string, StandingRow>
  /** Findings about the log itself. */
  findings: Finding[]
  /** Verifies the readable records, then the events that tombstones name. */
  verify: () => Promise<Verification[]>
  tombstoneEvents: { record_id: string; event_kind: string | null; canonical: string }[]
}

/**
 * Maximum records per page: enough for the verification threads, and few enough that neither the snapshot nor other
 * work waits long.
 */
export const pageRecords = 1_000

/**
 * Checks entries of the log: the tree over them, their seals, and each of their records or what replaces it. Reads one
 * snapshot, which contains either both a change and its traces or neither.
 */
export function createPageCheck(
  deps: Pick<ModuleParts, 'database' | 'logs'> & {
    records: SealedRecords
    verification: StoredVerification
    erasedContents: ErasedContentCheck
  },
) {
  const { database, logs, records, verification, erasedContents } = deps

  async function read(tx: TenantTx, tenant: Tenant, from: number, limit: number): Promise<PageRead> {
    const head = await logs.head(tx)
    const treeSize = head?.treeSize ?? 0
    const inLog = (await logs.entries(tx, from, limit)).filter(({ logIndex }) => logIndex < treeSize)
    // Without further entries, the log ends here regardless of its head; a large gap costs no work.
    const next = inLog[0]?.logIndex ?? treeSize
    const isGap = next > from && (inLog.length === 0 || next >= from + limit)
    const { entries, to } = isGap ? { entries: [], to: next } : await cut(tx, inLog, Math.min(from + limit, treeSize))
    const { leaves, findings } = isGap ? { leaves: [], findings: [] } : await readTree(tx, tenant, head, from, to)
    const stored = await records.ofEntries(tx, entries)
    const tombstones = await findTombstonesOfSeals(
      tx,
      entries.map((entry) => entry.sealId),
    )
    const eventIds = tombstones.flatMap(({ event_id, purge_event_id }) =>
      purge_event_id === null ? [event_id] : [event_id, purge_event_id],
    )
    const tombstoneEvents = await findRecords(tx, [...new Set(eventIds)], includingErasable)
    const erased = await erasedContents.find(tx, stored.records)
    const changedIds = stored.records.flatMap((record) => parseStateChange(record)?.recordId ?? [])
    const standings = await findRecordStatuses(tx, [...new Set(changedIds)])
    return {
      places: inLog.length === 0 ? 0 : Math.max(0, to - from),
      log: {
        ...{ logName: tenant.logName, from, to, entries, claims: [...stored.records, ...tombstones] },
        logLeafOf: (logIndex) => leaves[logIndex - from],
        sealOf: (sealId) => sealEvidence(stored.seals.get(sealId)),
      },
      stored,
      erased,
      tombstones,
      standings: new Map(standings.map((standing) => [standing.record_id, standing])),
      findings,
      verify: await verification.prepare(tx, tenant, [...readable(stored, erased), ...tombstoneEvents]),
      tombstoneEvents,
    }
  }

  /** Returns the entries before `end` that fit a page by the record counts of their seals; at least one. */
  async function cut(tx: TenantTx, found: readonly LogEntry[], end: number) {
    const inLog = found.filter(({ logIndex }) => logIndex < end)
    const counts = await findLeafCounts(
      tx,
      inLog.map((entry) => entry.sealId),
    )
    let records = 0
    const over = inLog.findIndex(({ sealId }, at) => {
      records += counts.get(sealId) ?? 0
      return at > 0 && records > pageRecords
    })
    return over < 0 ? { entries: inLog, to: end } : { entries: inLog.slice(0, over), to: inLog[over]!.logIndex }
  }

  /** Returns the leaves. Reports a finding unless they lead, with the rest of the tree, to the root of the head. */
  async function readTree(tx: TenantTx, tenant: Tenant, head: LogHead | undefined, from: number, to: number) {
    if (head === undefined || from >= to) return { leaves: [], findings: [] }
    const range = await logs.range(tx, from, to, head.treeSize)
    if (range && equalBytes(range.root, head.root)) return { leaves: range.leaves, findings: [] }
    const check: SweepCheck = range ? 'log_tree_matches_head' : 'log_tree_readable'
    const found = { from, to, tree_size: head.treeSize }
    const findings: Finding[] = [{ subject: `log:${tenant.logName}`, failedChecks: [check], found }]
    return { leaves: range?.leaves ?? [], findings }
  }

  return async (tenant: Tenant, from: number, limit: number): Promise<PageChecked> => {
    const page = await readTenant(database, tenant.slug, (tx) => read(tx, tenant, from, limit), { snapshot: true })
    return judge(tenant, page, await page.verify(), erasedContents)
  }
}

function readable({ records }: RecordsOfEntries, { keys }: ErasedContents): SealedRow[] {
  return keys.size === 0 ? records : records.filter((record) => !keys.has(record.record_id))
}

function sealEvidence(stored: StoredSeal | undefined) {
  return stored && (sealOf(stored) ?? 'unreadable')
}

function missingEntries({ logName }: Tenant, { missing, missingCount }: CheckedPage<LogEntry, LeafClaim>): Finding[] {
  if (missingCount <= 0) return []
  const shown = missing.slice(0, listedMax)
  const found = { missing: shown, ...(missingCount > shown.length ? { missing_count: missingCount } : {}) }
  return [{ subject: `log:${logName}`, failedChecks: ['log_entries_complete'], found }]
}

/** Returns one finding about the seal of an entry. */
function findingOf({ entry, problems, leaves = [], ...claims }: CheckedEntry<LogEntry, LeafClaim>): Finding[] {
  // The verification of each record checks the signature.
  const failedChecks = problems.flatMap(({ check }): SweepCheck[] => (check === 'seal_signed' ? [] : [check]))
  const found: Finding['found'] = { log_index: entry.logIndex }
  if (claims.unclaimed.length > 0) {
    failedChecks.push('leaves_accounted_for')
    Object.assign(found, { leaves: leaves.length }, listed('missing', claims.unclaimed))
  }
  const contested = [...claims.misplaced, ...claims.contested.flat()].map(({ record_id }) => record_id)
  if (contested.length > 0) {
    failedChecks.push('leaf_claimed_once')
    Object.assign(found, listed('records', contested))
  }
  return failedChecks.length === 0 ? [] : [{ subject: `seal:${entry.sealId}`, failedChecks, found }]
}

function judge(
  tenant: Tenant,
  page: PageRead,
  verifications: readonly Verification[],
  erasedContents: ErasedContentCheck,
): PageChecked {
  const records = readable(page.stored, page.erased)
  const log = checkPage(page.log, nodeCrypto)
  const findings = [...page.findings, ...missingEntries(tenant, log), ...log.entries.flatMap(findingOf)]
  const isVerified = records.map((_, at) => verifications[at]!.verified)
  let failed = isVerified.filter((verified) => !verified).length
  for (const { unclaimed } of log.entries) failed += unclaimed.length
  const leavesOfSeals = new Map(log.entries.map(({ entry, leaves }) => [entry.sealId, leaves]))

  const events = new Map(
    page.tombstoneEvents.flatMap((event, at): [string, StateChange][] => {
      const change = verifications[records.length + at]!.verified ? parseStateChange(event) : undefined
      return change ? [[change.eventId, change]] : []
    }),
  )
  const eventsOf = ({ event_id, purge_event_id }: TombstoneRow) => ({
    erased: events.get(event_id),
    purged: events.get(purge_event_id ?? ''),
  })
  for (const tombstone of page.tombstones) {
    const leaf = leavesOfSeals.get(tombstone.seal_id)?.[tombstone.leaf_index]
    findings.push(...checkTombstone(tombstone, eventsOf(tombstone), leaf))
  }
  records.forEach((record, at) => {
    const change = isVerified[at] ? parseStateChange(record) : undefined
    if (change) findings.push(...checkChange(change, page.standings.get(change.recordId)))
  })
  for (const record of page.stored.records) {
    if (!page.erased.keys.has(record.record_id)) continue
    const leaf = leavesOfSeals.get(record.seal_id)?.[record.leaf_index]
    if (erasedContents.isProven(tenant.slug, record, page.erased, leaf)) continue
    const { keyId: key, eventId: event } = page.erased.keys.get(record.record_id)!
    failed += 1
    findings.push({
      subject: `record:${record.record_id}`,
      failedChecks: ['content_erasure_proven'],
      found: { seal: record.seal_id, leaf_index: record.leaf_index, key, event },
    })
  }
  return { places: page.places, checked: page.stored.records.length, failed, findings }
}
