import { DomainError } from '../../../contract/domain-error.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { inclusionPath } from '../../../provenance/index.ts'
import { openSeal } from '../../../provenance/log.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { nodeCrypto } from '../../records/node-crypto.ts'
import { sealOf } from '../../records/record-cosign.ts'
import { recordNotFound } from '../../records/record-errors.ts'
import { responseText } from '../../records/record-response.ts'
import { findRecords, findSeals, includingErasable } from '../../records/record-store.ts'
import type { LogHead } from '../log/log-types.ts'
import { findTombstone, findType, type Tombstone } from './erasure-store.ts'
import type { CertificateReader, DeletionCertificates } from './erasure-types.ts'

export function createDeletionCertificates(deps: Pick<ModuleParts, 'database' | 'logs'>): DeletionCertificates {
  const { database, logs } = deps

  function requireTombstone(caller: CertificateReader, recordId: string): Promise<Tombstone> {
    return readTenant(database, caller.tenant.slug, async (tx) => {
      const tombstone = await findTombstone(tx, recordId)
      const type = tombstone?.record_type ?? (await findType(tx, recordId))
      if (type === undefined || !canSee(caller.scopes, type)) throw recordNotFound(recordId)
      if (tombstone === undefined) throw notErased(recordId)
      return tombstone
    })
  }

  async function proofIn(tx: TenantTx, tenant: Tenant, stone: Tombstone, head: LogHead) {
    const [stored] = await findSeals(tx, [stone.seal_id])
    const seal = stored && sealOf(stored)
    const entry = await logs.entryOf(tx, stone.seal_id)
    if (seal === undefined || entry === undefined) throw lost(`the seal ${stone.seal_id}`)
    const { leaves, note } = openSeal(seal, tenant.logName, nodeCrypto.sha256)
    const leaf = leaves[stone.leaf_index]
    if (leaf === undefined) throw lost(`a leaf of the seal ${stone.seal_id}`)
    const { logIndex } = entry
    return {
      leaf_hash: base64(leaf),
      leaf_path: inclusionPath(leaves, stone.leaf_index, nodeCrypto.sha256).map(base64),
      seal_note: note,
      log_index: logIndex,
      tree_size: head.treeSize,
      inclusion_path: (await logs.inclusionPath(tx, logIndex, head.treeSize)).map(base64),
      checkpoint: head.checkpoint,
    }
  }

  return {
    async get(caller, recordId) {
      const { tenant } = caller
      const stone = await requireTombstone(caller, recordId)
      const head = await logs.integrate(tenant)
      return readTenant(database, tenant.slug, async (tx) => {
        const proof = await proofIn(tx, tenant, stone, head)
        return certificateText(tenant, stone, proof, await eventsOf(tx, caller, stone))
      })
    },
  }
}

/**
 * Returns the events in their API form, as JSON. The purge event contains the address and request id of its actor, so
 * only callers who may read governance events, or purge, receive it. The erasure event names the purge event and is
 * enough to verify the certificate.
 */
async function eventsOf(tx: TenantTx, { tenant, scopes }: CertificateReader, stone: Tombstone) {
  const isSeen = canSee(scopes, 'governance_event') || scopes.has('hub:purge')
  const { event_id: erased, purge_event_id } = stone
  const purged = isSeen ? purge_event_id : null
  const records = await findRecords(tx, purged === null ? [erased] : [erased, purged], includingErasable)
  const texts = new Map(records.map((record) => [record.record_id, responseText(tenant.slug, record)]))
  const textOf = (id: string) => {
    const text = texts.get(id)
    if (text === undefined) throw lost(`the event ${id}`)
    return text
  }
  return { erased: textOf(erased), purged: purged === null ? undefined : textOf(purged) }
}

function certificateText(
  { slug }: Tenant,
  stone: Tombstone,
  proof: object,
  events: { erased: string; purged: string | undefined },
): string {
  const { record_id, record_type, seal_id, leaf_index, purged_at, purged_by, purge_reason, erased_at } = stone
  const members = {
    ...{ record_id, record_type, tenant_id: slug, seal_id, leaf_index },
    ...proof,
    ...{ purged_at, purged_by, purge_reason, erased_at },
  }
  const purged = events.purged === undefined ? '' : `"purged":${events.purged},`
  return `${JSON.stringify(members).slice(0, -1)},"events":{${purged}"erased":${events.erased}}}`
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function notErased(recordId: string): DomainError {
  return new DomainError(
    'concurrent-modification',
    `The record ${recordId} is not erased. The hourly job hard-delete erases it once it is purged, its recovery period is ` +
      'over and nothing holds it.',
  )
}

/** Returns the error for data that the service never deletes and that is missing from the database. */
function lost(what: string): Error {
  return new Error(`${what}, on which a deletion certificate depends, is no longer stored`)
}
