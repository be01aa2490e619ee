import { generateKeyPairSync, hash, sign } from 'node:crypto'
import type pg from 'pg'
import { successionNote } from '../../provenance/key-succession.ts'
import { keyIdOf } from '../../provenance/keys.ts'
import type { ProvenanceSigner } from '../../server/modules/keys/keys-types.ts'
import { createRecordSealer } from '../../server/modules/sealing/record-sealer.ts'
import type { TestHub } from '../support/hub.ts'
import { decisionDraft, type Scene } from './attack-scenes.ts'

const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')

export interface ForgedKey extends ProvenanceSigner {
  publicKey: Buffer
}

/** A key pair of whoever attacks. */
export function forgeKey(logName: string): ForgedKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const keyId = keyIdOf(logName, raw, sha256)
  return {
    ...{ keyId, logName, publicKey: raw },
    keyIdBytes: Buffer.from(keyId, 'hex'),
    sign: (message) => sign(null, message, privateKey),
  }
}

/** As one that was retired long ago, stored and published. */
export async function putInKey(db: pg.Client, { slug }: Scene, key: ForgedKey): Promise<void> {
  await db.query(
    `insert into hub.provenance_keys (tenant_id, key_id, name, public_key, private_key_sealed, created_at, retired_at)
     values ($1, $2, $3, $4, '\\x00', now() - interval '1 year', now() - interval '1 month')`,
    [slug, key.keyId, key.logName, key.publicKey],
  )
  await db.query(
    `insert into hub.published_keys (key_id, name, public_key, created_at, retired_at)
     values ($1, $2, $3, now() - interval '1 year', now() - interval '1 month')`,
    [key.keyId, key.logName, key.publicKey],
  )
}

/** Lets it look as if the forged key had been the first, and the genuine one its successor. */
export async function introduceBy(db: pg.Client, { tenant: { logName } }: Scene, key: ForgedKey): Promise<void> {
  const others = 'from hub.published_keys where name = $1 and key_id <> $2'
  const { rows } = await db.query(`select key_id, public_key ${others}`, [logName, key.keyId])
  for (const { key_id, public_key } of rows) {
    const statement = { logName, fromKeyId: key.keyId, to: { name: logName, publicKey: public_key }, timeMicros: 1 }
    const note = successionNote(statement, { sha256, sign: key.sign })
    for (const table of ['published_keys', 'provenance_keys']) {
      await db.query(`update hub.${table} set succession = $2 where key_id = $1`, [key_id, note])
    }
  }
}

/** A decision that nobody took, and a purge of the neighbour whose recovery period is over, with the event that tells of it. */
export async function forgePurge(db: pg.Client, scene: Scene, hub: TestHub, key: ForgedKey): Promise<void> {
  const { tenant, slug, neighbour } = scene
  const { clock, records } = hub.modules.recordStore
  const sealer = createRecordSealer({ clock, keys: { signerOf: async () => key, publicKeysOf: async () => [] } })
  const [purgedAt, hardDeleteAfter] = ['2026-01-01T00:00:00.000000Z', '2026-02-01T00:00:00.000000Z']
  const event = {
    event_kind: 'hub.record_purged',
    subject: `record:${neighbour}`,
    details: {
      ...{ actor: 'client-1', record_type: 'decision', reason: 'forged', revision: 1 },
      ...{ purged_at: purgedAt, hard_delete_after: hardDeleteAfter },
    },
  }
  const batch = await sealer.seal(tenant, [
    { createdBy: 'service:hub', recordType: 'governance_event', fields: event },
    { createdBy: 'client-1', ...decisionDraft('forged') },
  ])
  await hub.test.database.withTenant(tenant.slug, (tx) => records.writer.insert(tx, batch))
  await db.query(
    `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after, event_id)
     values ($1, $2, 1, $3, 'client-1', 'forged', $4, $5)`,
    [slug, neighbour, purgedAt, hardDeleteAfter, batch.records[0]!.recordId],
  )
  // It is held, and not erased.
  await hub.modules.hub.erasure.run(tenant)
}
