import type { RecordType } from '../../../contract/literals.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { ContentEncryptor, TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { IndexColumns } from '../../records/record-columns.ts'

/** The members that every canonical object has. */
export interface CommonMembers {
  created_at: string
  created_by: string
  record_id: string
  record_type: RecordType
  related_records: readonly string[]
  schema_version: string
  tenant_id: string
}

/** A record before the server adds id, time, hash and seal. */
export interface RecordDraft {
  recordType: RecordType
  /** The subject of the token, or `service:hub`. */
  createdBy: string
  /** Type-specific fields, validated and normalized, exactly as in the canonical object. */
  fields: Record<string, JsonValue>
  /** Ids that the caller has checked to exist; absent for none. */
  relatedRecords?: readonly string[] | undefined
  /**
   * Returns `fields` and the common members as one object, sorted by name. A draft that knows the order saves the
   * sorting.
   */
  arrange?(common: CommonMembers): JsonObject
}

/** A hashed and sealed record, ready to be stored. */
export interface SealedRecord extends IndexColumns {
  recordId: string
  recordType: RecordType
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
  createdBy: string
  canonical: string
  relatedRecords: readonly string[]
  sealId: string
  leafIndex: number
  salt: Uint8Array
  recordHash: Uint8Array
  /** `sha256:…` */
  provenanceHash: string
  /** `omhc1.…` */
  provenanceCosign: string
}

/** A row of hub.seals. */
export interface Seal {
  sealId: string
  keyId: string
  /** RFC 3339, UTC, six fractional digits. */
  sealedAt: string
  leaves: Uint8Array
  /** The upper nodes of its tree; see `upperNodesOf`. */
  upperNodes: Uint8Array
  signature: Uint8Array
  /** Its leaf in the tenant's log. */
  logLeaf: Uint8Array
  /** The lowest and the highest record id, both inclusive. */
  firstId: string
  lastId: string
}

export interface SealedBatch {
  tenantId: string
  records: SealedRecord[]
  seals: Seal[]
  /** The key that encrypts the contents; absent without contents, and in modes A and C. */
  contentKeyId?: string
}

/**
 * Creates records from drafts: id and time, canonical bytes, hash, seals, cosignatures. The only database work is the
 * first look-up of the tenant's key, for which a caller inside a transaction passes it. The records of one batch must
 * be stored in one transaction.
 *
 * In Mode B the salts identify which records are content, and under which key. For content, the caller passes the
 * encryptor that will encrypt it. The service's events are not content.
 */
export interface RecordSealer {
  seal(
    tenant: Tenant,
    drafts: readonly RecordDraft[],
    tx?: TenantTx,
    contents?: Pick<ContentEncryptor, 'keyId'>,
  ): Promise<SealedBatch>
}
