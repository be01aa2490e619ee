import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import {
  joinRoots,
  ProvenanceError,
  parseCheckpoint,
  parseNote,
  TreeBuilder,
  verifyNoteSync,
} from '../../../../provenance/index.ts'
import type { Database } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ProvenanceKeyAudit } from '../../keys/keys-types.ts'
import { logCrypto } from '../log-crypto.ts'
import { findTiles } from '../log-store.ts'
import type { LogHead, TenantLogs } from '../log-types.ts'
import { countEntries, findUnexplained, lastTiles, type RecordPage } from './audit-store.ts'
import type { LogAudit } from './audit-types.ts'
import { CheckpointComparison } from './checkpoint-comparison.ts'
import { Findings } from './findings.ts'
import { auditKeys, type LogKeys } from './key-audit.ts'
import { auditPage, pageEntries } from './page-audit.ts'
import { type ExpectedTile, ExpectedTiles, hashesOfLevels, tileProblem } from './tile-audit.ts'

const recordsPerPage = 5_000
const snapshot = { readOnly: true, snapshot: true } as const

export function createLogAudit(deps: { database: Database; logs: TenantLogs; keys: ProvenanceKeyAudit }): LogAudit {
  const { database, logs } = deps

  /** Integrates pending arrivals and returns the head. If that fails because of damage, returns the stored head. */
  async function currentHead(tenant: Tenant, findings: Findings): Promise<LogHead | undefined> {
    try {
      return await logs.integrate(tenant)
    } catch (error) {
      if (!isDamage(error)) throw error
      findings.add('head', `what waits for its place cannot be taken in: ${error.message}`)
      return database.withTenant(tenant.slug, (tx) => logs.head(tx), snapshot)
    }
  }

  async function rootAt(tenant: Tenant, size: number): Promise<Uint8Array> {
    try {
      const { left } = await database.withTenant(tenant.slug, (tx) => logs.rangeProof(tx, size, size, size), snapshot)
      return joinRoots(left, logCrypto.sha256)
    } catch (error) {
      // Other checks report the damage itself; no checkpoint agrees with it.
      if (isDamage(error)) return new Uint8Array(0)
      throw error
    }
  }

  async function auditTiles(tenant: Tenant, expected: readonly ExpectedTile[], findings: Findings): Promise<void> {
    if (expected.length === 0) return
    const stored = await database.withTenant(tenant.slug, (tx) => findTiles(tx, expected), snapshot)
    for (const { level, tileIndex, hashes } of expected) {
      const tile = stored.find((each) => each.level === level && each.tileIndex === tileIndex)
      const problem = tileProblem(hashes, tile?.hashes)
      if (problem !== undefined) findings.add(`tile:${level}/${tileIndex}`, problem)
    }
  }

  /** Checks in one snapshot that nothing follows the end of the log. */
  async function auditEnd(tenant: Tenant, findings: Findings): Promise<void> {
    const found = await database.withTenant(
      tenant.slug,
      async (tx) => ({
        size: (await logs.head(tx))?.treeSize ?? 0,
        entries: await countEntries(tx),
        tiles: await lastTiles(tx),
      }),
      snapshot,
    )
    if (found.entries > found.size) {
      findings.add('head', `there are ${found.entries} entries, but its tree has ${found.size}`)
    }
    const expected = hashesOfLevels(found.size)
    for (const { level, tiles, last_index, last_hashes } of found.tiles) {
      const hashes = last_index * pageEntries + last_hashes
      if (hashes > (expected[level] ?? 0) || tiles > last_index + 1) {
        findings.add(`tile:${level}/${last_index}`, `the tree has ${expected[level] ?? 0} hashes there, not ${hashes}`)
      }
    }
  }

  /** Reports records that were added without an entry in the log. */
  async function auditUnexplained(tenant: Tenant, findings: Findings): Promise<void> {
    let page: RecordPage | undefined
    do {
      const after: string | null = page?.last ?? null
      page = await database.withTenant(tenant.slug, (tx) => findUnexplained(tx, after, recordsPerPage), snapshot)
      for (const id of page.unexplained) findings.add(`record:${id}`, 'no entry of the log has it: it was inserted')
    } while (page.count === recordsPerPage)
  }

  return {
    async audit(tenant, against) {
      const { slug, logName } = tenant
      const findings = new Findings()
      const keys = await auditKeys(tenant, deps.keys, findings)
      const head = await currentHead(tenant, findings)
      const size = head?.treeSize ?? 0
      const failedBefore = findings.failed
      const signedAt = head && auditHead(head, logName, keys, findings)
      // An unsigned size is arbitrary, so the stored entries determine the end.
      const isSigned = findings.failed === failedBefore
      const end = isSigned ? size : Math.min(size, await database.withTenant(slug, countEntries, snapshot))

      const tree = new TreeBuilder(logCrypto.sha256)
      const upper = new ExpectedTiles()
      const counts = { seals: 0, records: 0, erased: 0 }
      const comparisons: CheckpointComparison[] = []
      for (const source of against) {
        comparisons.push(await CheckpointComparison.begin(source, logName, keys.keys, findings))
      }
      const rootOf = (at: number) => rootAt(tenant, at)
      const compare = async () => {
        for (const comparison of comparisons) await comparison.reached(tree.size, () => tree.root(), rootOf)
      }

      await compare()
      for (let tileIndex = 0; tileIndex * pageEntries < end; tileIndex += 1) {
        const page = await database.withTenant(slug, (tx) => auditPage(tx, tileIndex, end, { logName, keys }), snapshot)
        for (const { at, reason } of page.failures) findings.add(at, reason)
        counts.seals += page.seals
        counts.records += page.records
        counts.erased += page.erased
        for (const leaf of page.leaves) {
          tree.append(leaf)
          await compare()
        }
        if (page.leaves.length === pageEntries) await auditTiles(tenant, upper.add(page.leaves), findings)
      }
      await auditTiles(tenant, upper.rest(), findings)
      if (head && Buffer.compare(tree.root(), head.root) !== 0) {
        findings.add('head', 'its root is not that of the tree')
      }
      for (const comparison of comparisons) await comparison.end(size, rootOf)
      await auditEnd(tenant, findings)
      await auditUnexplained(tenant, findings)
      return {
        tenant: slug,
        log_name: logName,
        verified: findings.failed === 0,
        tree_size: size,
        root_hash: Buffer.from(tree.root()).toString('base64'),
        ...(signedAt !== undefined && { signed_at: signedAt }),
        ...counts,
        checkpoints: comparisons.reduce((sum, comparison) => sum + comparison.count, 0),
        failed: findings.failed,
        failures: findings.listed,
      }
    },
  }
}

/** Returns whether the log itself is damaged, rather than unavailable. */
function isDamage(error: unknown): error is Error {
  return error instanceof ProvenanceError || (error instanceof DomainError && error.slug === 'internal')
}

/** Checks the head. Returns the time of signing that it states. */
function auditHead(head: LogHead, logName: string, keys: LogKeys, findings: Findings): string | undefined {
  try {
    const signed = parseCheckpoint(head.checkpoint)
    const agrees =
      signed.logName === logName && signed.treeSize === head.treeSize && Buffer.compare(signed.root, head.root) === 0
    if (!agrees) findings.add('head', 'its checkpoint says another name, size or root')
    if (!verifyNoteSync(parseNote(head.checkpoint), [...keys.keys.values()], logCrypto)) {
      findings.add('head', 'no trusted key of the log signed its checkpoint')
    }
    const { timeMicros } = signed
    return timeMicros === undefined ? undefined : formatTimestamp(Math.floor(timeMicros / 1000), timeMicros % 1000)
  } catch (error) {
    if (!(error instanceof ProvenanceError)) throw error
    findings.add('head', `its checkpoint cannot be read: ${error.message}`)
    return undefined
  }
}
