import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { TreeBuilder } from '../../../../provenance/index.ts'
import { checkHead } from '../../../../provenance/log-verifier.ts'
import { readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { nodeCrypto } from '../../../records/node-crypto.ts'
import type { ProvenanceKeyAudit } from '../../keys/keys-types.ts'
import { findTiles } from '../log-store.ts'
import type { LogHead } from '../log-types.ts'
import { isLogCorruptionError } from '../tenant-logs.ts'
import { countEntries, findLastTiles } from './audit-store.ts'
import type { AuditFailure, LogAudit, LogAuditResult, TrustedLog } from './audit-types.ts'
import { CheckpointComparison } from './checkpoint-comparison.ts'
import type { CheckpointSource } from './checkpoint-source.ts'
import { auditPage, pageEntries } from './page-audit.ts'
import { type ExpectedTile, ExpectedTiles, hashesOfLevels, tileProblem } from './tile-audit.ts'

const recordsPerPage = 5_000
/** Maximum number of listed failures. It bounds the memory for a log that is entirely wrong. */
const listedMax = 100

interface AuditDeps extends Pick<ModuleParts, 'database' | 'logs'> {
  keys: ProvenanceKeyAudit
}

export function createLogAudit(deps: AuditDeps): LogAudit {
  return { audit: (tenant, against) => new AuditRun(deps, tenant).run(against) }
}

/** One audit of a tenant's log. */
class AuditRun {
  readonly #deps: AuditDeps
  readonly #tenant: Tenant
  readonly #tree = new TreeBuilder(nodeCrypto.sha256)
  readonly #tiles = new ExpectedTiles()
  readonly #counts = { seals: 0, records: 0, erased: 0 }
  readonly #listed: AuditFailure[] = []
  readonly #comparisons: CheckpointComparison[] = []
  #failed = 0

  constructor(deps: AuditDeps, tenant: Tenant) {
    this.#deps = deps
    this.#tenant = tenant
  }

  async run(against: readonly CheckpointSource[]): Promise<LogAuditResult> {
    const log = await this.#trustedLog()
    const head = await this.#currentHead()
    const size = head?.treeSize ?? 0
    const { isSigned, signedAt } = this.#auditHead(head, log)
    // An unsigned size is arbitrary, so the stored entries determine the end.
    const end = isSigned ? size : Math.min(size, await this.#read(countEntries))

    for (const source of against) {
      const parts = { source, log, rootAt: this.#rootAt, fail: this.#fail }
      this.#comparisons.push(await CheckpointComparison.begin(parts))
    }
    await this.#compare()
    for (let tileIndex = 0; tileIndex * pageEntries < end; tileIndex += 1) await this.#auditPage(tileIndex, end, log)
    await this.#auditTiles(this.#tiles.rest())
    const root = this.#tree.root()
    if (head && Buffer.compare(root, head.root) !== 0) this.#fail('head', 'its root is not that of the tree')
    for (const comparison of this.#comparisons) await comparison.end(size)
    await this.#auditEnd()
    for (let after: string | null | undefined = null; after !== undefined; ) after = await this.#auditUnexplained(after)
    return {
      tenant: this.#tenant.slug,
      log_name: log.logName,
      verified: this.#failed === 0,
      tree_size: size,
      root_hash: Buffer.from(root).toString('base64'),
      ...(signedAt !== undefined && { signed_at: signedAt }),
      ...this.#counts,
      checkpoints: this.#comparisons.reduce((sum, comparison) => sum + comparison.count, 0),
      failed: this.#failed,
      failures: this.#listed,
    }
  }

  readonly #fail = (at: string, reason: string): void => {
    this.#failed += 1
    if (this.#listed.length < listedMax) this.#listed.push({ at, reason })
  }

  #read<Result>(work: (tx: TenantTx) => Promise<Result>): Promise<Result> {
    return readTenant(this.#deps.database, this.#tenant.slug, work, { snapshot: true })
  }

  /**
   * Audits the keys of the log. A key is trusted if its private key decrypts under the master key, because access to
   * the database alone cannot add such a key. Other problems of stored and published keys are failures.
   */
  async #trustedLog(): Promise<TrustedLog> {
    const { keys, problems } = await this.#deps.keys.auditKeys(this.#tenant)
    const distrusted = new Map<string, string>()
    for (const { keyId, problem } of problems) {
      this.#fail(keyId === undefined ? 'keys' : `key:${keyId}`, problem)
      if (keyId !== undefined) distrusted.set(keyId, problem)
    }
    const trust = { keys: new Map(keys.map((key) => [key.keyId, key])), distrusted }
    return { logName: this.#tenant.logName, trust }
  }

  /** Integrates pending arrivals and returns the head. If that fails because of damage, returns the stored head. */
  async #currentHead(): Promise<LogHead | undefined> {
    const { logs } = this.#deps
    try {
      return await logs.integrate(this.#tenant)
    } catch (error) {
      if (!isLogCorruptionError(error)) throw error
      this.#fail('head', `waiting seals cannot be integrated: ${error.message}`)
      return this.#read(logs.head)
    }
  }

  #auditHead(head: LogHead | undefined, { logName, trust }: TrustedLog): { isSigned: boolean; signedAt?: string } {
    if (head === undefined) return { isSigned: true }
    const { signed, problems } = checkHead(head, { logName, keys: [...trust.keys.values()] }, nodeCrypto)
    for (const { reason } of problems) this.#fail('head', reason)
    const isSigned = problems.length === 0
    const micros = signed?.timeMicros
    if (micros === undefined) return { isSigned }
    return { isSigned, signedAt: formatTimestamp(Math.floor(micros / 1000), micros % 1000) }
  }

  async #auditPage(tileIndex: number, end: number, log: TrustedLog): Promise<void> {
    const page = await this.#read((tx) => auditPage(tx, tileIndex, end, log))
    for (const { at, reason } of page.failures) this.#fail(at, reason)
    this.#counts.seals += page.seals
    this.#counts.records += page.records
    this.#counts.erased += page.erased
    for (const leaf of page.leaves) {
      this.#tree.append(leaf)
      await this.#compare()
    }
    if (page.leaves.length === pageEntries) await this.#auditTiles(this.#tiles.add(page.leaves))
  }

  async #compare(): Promise<void> {
    for (const comparison of this.#comparisons) await comparison.reached(this.#tree.size, () => this.#tree.root())
  }

  /** Computes the root of a smaller tree. Other checks report a damaged tree; no checkpoint agrees with it. */
  readonly #rootAt = async (size: number): Promise<Uint8Array | undefined> =>
    (await this.#read((tx) => this.#deps.logs.range(tx, size, size, size)))?.root

  async #auditTiles(expected: readonly ExpectedTile[]): Promise<void> {
    if (expected.length === 0) return
    const stored = await this.#read((tx) => findTiles(tx, expected))
    for (const { level, tileIndex, hashes } of expected) {
      const tile = stored.find((each) => each.level === level && each.tileIndex === tileIndex)
      const problem = tileProblem(hashes, tile?.hashes)
      if (problem !== undefined) this.#fail(`tile:${level}/${tileIndex}`, problem)
    }
  }

  /** Checks in one snapshot that nothing follows the end of the log. */
  async #auditEnd(): Promise<void> {
    const { head, entries, lastTiles } = await this.#read(async (tx) => ({
      head: await this.#deps.logs.head(tx),
      entries: await countEntries(tx),
      lastTiles: await findLastTiles(tx),
    }))
    const size = head?.treeSize ?? 0
    if (entries > size) this.#fail('head', `it has ${entries} entries, but its tree has ${size}`)
    const expected = hashesOfLevels(size)
    for (const { level, tiles, last_index, last_hashes } of lastTiles) {
      const hashes = last_index * pageEntries + last_hashes
      if (hashes > (expected[level] ?? 0) || tiles > last_index + 1) {
        this.#fail(
          `tile:${level}/${last_index}`,
          `the tree has ${expected[level] ?? 0} hashes at this level, not ${hashes}`,
        )
      }
    }
  }

  /**
   * Reports records that were added without an entry in the log. Returns the id from which to continue; undefined at
   * the end.
   */
  async #auditUnexplained(after: string | null): Promise<string | undefined> {
    const { database, logs } = this.#deps
    const { lastId, uncovered } = await readTenant(
      database,
      this.#tenant.slug,
      (tx) => logs.uncovered(tx, after, recordsPerPage),
      { snapshot: true, inIndexOrder: true },
    )
    for (const { record_id, is_tombstone } of uncovered) {
      if (!is_tombstone) this.#fail(`record:${record_id}`, 'no entry of the log has it: it was inserted')
    }
    return lastId
  }
}
