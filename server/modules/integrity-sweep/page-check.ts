import { equalBytes } from '../../../provenance/bytes.ts'
import { ProvenanceError, rootOfRange } from '../../../provenance/index.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { SealedRow } from '../../records/record-rows.ts'
import { findRecords, includingErasable } from '../../records/record-store.ts'
import type { LogEntry, LogHead, TenantLogs } from '../log/log-types.ts'
import type { RecordsOfEntries, SealedRecords } from '../sealing/sealed-records-types.ts'
import type {
  ErasedContentCheck,
  ErasedContents,
  StoredVerification,
  Verification,
} from '../verification/verification-types.ts'
import { checkChange, checkTombstone, parseStateChange, type StateChange } from './event-check.ts'
import { listedMax } from './finding.ts'
import { isLogCorruption } from './log-corruption.ts'
import { checkSeal } from './seal-check.ts'
import {
  findLeafCounts,
  findStandings,
  findTombstonesOfSeals,
  type StandingRow,
  type TombstoneRow,
} from './sweep-store.ts'
import type { Finding, SweepCheck } from './sweep-types.ts'

export interface PageChecked {
  /** The number of log indexes that the page covers, with or without an entry; 0 at the end. */
  places: number
  /** The number of verified records. */
  checked: number
  /** The number of records that failed, and of leaves without a record or tombstone. */
  failed: number
  findings: Finding[]
}

/** All data about some entries of the log, from one snapshot. */
interface PageRead {
  places: number
  entries: LogEntry[]
  /** The leaves of the tree by log index; empty if unreadable. */
  logLeaves: ReadonlyMap<number, Uint8Array>
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
export function createPageCheck(deps: {
  database: Database
  logs: TenantLogs
  records: SealedRecords
  verification: StoredVerification
  erasedContents: ErasedContentCheck
}) {
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
    findings.push(...missingEntries(tenant, entries, from, to))
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
    const standings = await findStandings(tx, [...new Set(changedIds)])
    return {
      places: inLog.length === 0 ? 0 : Math.max(0, to - from),
      entries,
      logLeaves: new Map(leaves.map((leaf, at) => [from + at, leaf])),
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
    const found = { from, to, tree_size: head?.treeSize ?? 0 }
    const bad = (check: SweepCheck) => ({
      leaves: [],
      findings: [{ subject: `log:${tenant.logName}`, failedChecks: [check], found }] as Finding[],
    })
    if (head === undefined || from >= to) return { leaves: [], findings: [] }
    try {
      const leaves = await logs.leaves(tx, from, to)
      const { left, right } = await logs.rangeProof(tx, from, to, head.treeSize)
      const root = rootOfRange(from, leaves, left, right, head.treeSize, nodeCrypto.sha256)
      return equalBytes(root, head.root) ? { leaves, findings: [] } : { ...bad('log_tree_matches_head'), leaves }
    } catch (error) {
      if (isLogCorruption(error) || error instanceof ProvenanceError) return bad('log_tree_readable')
      throw error
    }
  }

  return async (tenant: Tenant, from: number, limit: number): Promise<PageChecked> => {
    const page = await database.withTenant(tenant.slug, (tx) => read(tx, tenant, from, limit), {
      readOnly: true,
      snapshot: true,
    })
    return judge(tenant, page, await page.verify(), erasedContents)
  }
}

function readable({ records }: RecordsOfEntries, { keys }: ErasedContents): SealedRow[] {
  return keys.size === 0 ? records : records.filter((record) => !keys.has(record.record_id))
}

function missingEntries(tenant: Tenant, entries: readonly LogEntry[], from: number, to: number): Finding[] {
  const count = Math.max(0, to - from) - entries.length
  if (count <= 0) return []
  const there = new Set(entries.map((entry) => entry.logIndex))
  const missing: number[] = []
  for (let at = from; at < to && missing.length < listedMax; at++) if (!there.has(at)) missing.push(at)
  const found = { missing, ...(count > missing.length ? { missing_count: count } : {}) }
  return [{ subject: `log:${tenant.logName}`, failedChecks: ['log_entries_complete'], found }]
}

function judge(
  tenant: Tenant,
  page: PageRead,
  verifications: readonly Verification[],
  erasedContents: ErasedContentCheck,
): PageChecked {
  const records = readable(page.stored, page.erased)
  const findings = [...page.findings]
  const isVerified = records.map((_, at) => verifications[at]!.verified)
  let failed = isVerified.filter((verified) => !verified).length

  const claims = groupBy([...page.stored.records, ...page.tombstones], (claim) => claim.seal_id)
  const leavesOfSeals = new Map<string, readonly Uint8Array[]>()
  for (const entry of page.entries) {
    const sealed = checkSeal(tenant.logName, entry, {
      seal: page.stored.seals.get(entry.sealId),
      logLeaf: page.logLeaves.get(entry.logIndex),
      claims: claims.get(entry.sealId) ?? [],
    })
    findings.push(...sealed.findings)
    failed += sealed.missing
    if (sealed.leaves) leavesOfSeals.set(entry.sealId, sealed.leaves)
  }

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

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
