import { checkEarlierCheckpoint, checkHead } from '../../../provenance/log-verifier.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import type { ProvenanceKeyAudit, ProvenanceKeys, PublishedKey } from '../keys/keys-types.ts'
import type { LogHead, StoredCheckpoints } from '../log/log-types.ts'
import { listed } from './finding.ts'
import type { Finding, SweepCheck } from './sweep-types.ts'

/** Number of earlier checkpoints that are compared besides the newest. They vary, so that in time all are compared. */
const earlierCompared = 8

/** The head of a log, and what it is compared with. */
interface HeadEvidence {
  head: LogHead | undefined
  /** Log indexes of entries that the head does not cover. */
  beyond: number[]
  /** Stored checkpoints, the newest first, with the roots of the log at their sizes, as far as these can be computed. */
  kept: { treeSize: number; checkpoint: string; rootThen: Uint8Array | undefined }[]
}

/**
 * Checks the head of a log: its signature, that nothing follows it, and its consistency with the newest checkpoint
 * stored outside of the database and some earlier ones. Also checks that the service created the log's keys.
 */
export function createHeadCheck(
  deps: Pick<ModuleParts, 'database' | 'logs'> & {
    keys: ProvenanceKeys & ProvenanceKeyAudit
    storedCheckpoints: StoredCheckpoints | undefined
  },
) {
  const { database, logs, keys, storedCheckpoints } = deps

  async function gather(tenant: Tenant): Promise<HeadEvidence> {
    // Read before the head, so that the head is at least as new.
    const newest = await storedCheckpoints?.newest(tenant.logName)
    const kept = newest ? [newest, ...(await storedCheckpoints!.some(tenant.logName, earlierCompared))] : []
    const read = async (tx: TenantTx) => {
      const head = await logs.head(tx)
      const treeSize = head?.treeSize ?? 0
      const beyond = (await logs.entries(tx, treeSize, 10)).map((entry) => entry.logIndex)
      const evidence: HeadEvidence = { head, beyond, kept: [] }
      for (const { treeSize: size, checkpoint } of kept) {
        const then = size <= treeSize ? await logs.range(tx, size, size, size) : undefined
        evidence.kept.push({ treeSize: size, checkpoint, rootThen: then?.root })
      }
      return evidence
    }
    return readTenant(database, tenant.slug, read, { snapshot: true })
  }

  async function checkKeys(tenant: Tenant): Promise<Finding[]> {
    const { problems } = await keys.auditKeys(tenant)
    if (problems.length === 0) return []
    const failedChecks = [...new Set(problems.map(({ check }) => check))]
    const found: Finding['found'] = {}
    for (const check of failedChecks) {
      const ids = problems.flatMap((each) => (each.check === check ? (each.keyId ?? []) : []))
      Object.assign(found, listed(check, ids))
    }
    return [{ subject: `keys:${tenant.logName}`, failedChecks, found }]
  }

  return async (tenant: Tenant): Promise<Finding[]> => {
    const evidence = await gather(tenant)
    let finding = judge(tenant, evidence, await keys.publicKeysOf(tenant.slug))
    // Another process may have just created a key: an id that no key has forces a reload of all.
    if (finding?.failedChecks.some((check) => signatureChecks.has(check))) {
      finding = judge(tenant, evidence, await keys.publicKeysOf(tenant.slug, ['']))
    }
    return [...(finding ? [finding] : []), ...(await checkKeys(tenant))]
  }
}

const signatureChecks = new Set<SweepCheck>(['log_head_signed', 'kept_checkpoint_signed'])

function judge(
  { logName }: Tenant,
  { head, beyond, kept }: HeadEvidence,
  keys: readonly PublishedKey[],
): Finding | undefined {
  const log = { logName, keys }
  const checks = new Set<SweepCheck>()
  const found: Finding['found'] = { tree_size: head?.treeSize ?? 0 }
  if (head === undefined) {
    if (beyond.length > 0 || kept.length > 0) checks.add('log_head_present')
  } else if (checkHead(head, log, nodeCrypto).problems.length > 0) checks.add('log_head_signed')
  if (beyond.length > 0) {
    checks.add('log_entries_complete')
    Object.assign(found, listed('beyond_head', beyond))
  }
  for (const { treeSize, checkpoint, rootThen } of kept) {
    const problem = checkEarlierCheckpoint(checkpoint, rootThen, log, nodeCrypto)
    if (problem === 'unsigned') checks.add('kept_checkpoint_signed')
    if (problem !== 'other_history') continue
    checks.add('log_continues_kept_checkpoint')
    // The smallest known tree size of the lost history.
    found.kept_tree_size = Math.min(treeSize, Number(found.kept_tree_size ?? treeSize))
  }
  if (kept[0]) found.kept_tree_size ??= kept[0].treeSize
  return checks.size === 0 ? undefined : { subject: `log:${logName}`, failedChecks: [...checks], found }
}
