import type { RecordType } from '../../../contract/literals.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { ContentEncryptor } from '../../db/record-encryption.ts'
import type { Tenant } from '../../http/caller.ts'

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
export interface SealedRecord {
  recordId: string
  recordType: RecordType
  /** RFC 3339, UTC, six fractional digits. */
  createdAt: string
  createdBy: string
  canonical: string
  relatedRecords: readonly string[]
  skillId: string | null
  archetypeId: string | null
  userId: string | null
  eventKind: string | null
  costMicros: number | null
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

/** Stores sealed records. */
export interface RecordWriter {
  /** Stores records, links and seals through the application role and its row-level policy. */
  insert(tx: TenantTx, batch: SealedBatch): Promise<void>
  /**
   * Returns the steps of an ingest transaction that store the records: COPY into the month's partition, the seals, and
   * any links. Requires at least one record.
   *
   * @param sealer the encryptor of an encrypted batch
   */
  copySteps(batch: SealedBatch, sealer?: ContentEncryptor): IngestStep[]
}

/** Provides the record store to other modules. */
export interface Records {
  sealer: RecordSealer
  writer: RecordWriter
  /**
   * Reads the id, hash and cosignature of existing records in id order, to answer a repeated request. Skips deleted
   * records.
   */
  receipts(tx: TenantTx, recordIds: readonly string[]): Promise<RecordReceipt[]>
  /** Returns the ids that name no readable record of the tenant. */
  missing(tx: TenantTx, recordIds: readonly string[]): Promise<Set<string>>
  /**
   * Returns the smallest record id of a time. A record was created at or after that time if, and only if, its id is not
   * below.
   */
  firstIdAt(epochMs: number, microsOfMs: number): string
}

/** The response to a write (interface 4.2 and 4.3), with the names of the API. */
export interface RecordReceipt {
  record_id: string
  provenance_hash: string
  provenance_cosign: string
}

/**
 * Returns the canonical objects of records by id, with the hash in its API form. Skips purged and unreadable records.
 */
export type ReadableRecords = (
  tx: TenantTx,
  recordIds: readonly string[],
) => Promise<Map<string, { members: JsonObject; provenanceHash: string }>>

/** Decides whether all content of a tenant may be destroyed at once. */
export interface ContentDestruction {
  /** Blocks placing and releasing holds until the transaction ends. Must be called first. */
  lock(tx: TenantTx): Promise<void>
  /**
   * Throws if content must be kept.
   *
   * @throws DomainError `legal-hold`, `retention`
   */
  requireAllowed(tx: TenantTx): Promise<void>
}
