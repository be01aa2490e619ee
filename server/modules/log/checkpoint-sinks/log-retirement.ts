import { DomainError } from '../../../../contract/domain-error.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { signedNote } from '../../../../provenance/index.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import type { Actor } from '../../governance/governance-types.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import { type Retirement, retirementText } from './known-logs.ts'

/** Ends the log of a tenant before its removal. Its key signs a statement, which is stored with its checkpoints. */
export function createLogRetirement(
  deps: Pick<ModuleParts, 'database' | 'logs' | 'keys' | 'governance'> & { checkpoints: CheckpointStore },
) {
  const { database, logs, keys, governance, checkpoints } = deps
  return {
    /** Returns the names of the command's output. */
    async retire(tenant: Tenant, reason: string, actor: Actor): Promise<Retirement & { tree_size: number }> {
      const { slug, logName } = tenant
      const event = { kind: 'tenant.config_changed', subject: `tenant:${slug}`, actor } as const
      const details = { change: 'log_retired', reason }
      await database.withTenant(slug, (tx) => governance.append(tx, tenant, { ...event, details }))
      const { checkpoint, treeSize } = (await logs.integrate(tenant))!
      const signer = await keys.signerOf(slug)
      const publicKeys = await keys.publicKeysOf(slug, [signer.keyId])
      const { publicKey } = publicKeys.find(({ keyId }) => keyId === signer.keyId)!
      const retiredAt = formatTimestamp(Date.now())
      const text = retirementText(checkpoint, retiredAt, reason)
      const retirement: Retirement = {
        log_name: logName,
        retired_at: retiredAt,
        statement: signedNote(text, logName, signer.keyId, signer.sign(Buffer.from(text))),
        public_key: Buffer.from(publicKey).toString('base64'),
      }
      const last = { kept_at: retiredAt, log_name: logName, tree_size: treeSize, checkpoint }
      const folders = await checkpoints.retire(tenant, last, retirement)
      if (folders === 0) {
        const detail = 'HUB_CHECKPOINT_SINK names no folder, so there is no place for the statement.'
        throw new DomainError('concurrent-modification', detail)
      }
      return { ...retirement, tree_size: treeSize }
    },
  }
}
