import type { RecordType } from '../../../contract/literals.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import type { TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { ContentEncryptor } from '../../db/record-encryption.ts'
import type { Tenant } from '../../http/caller.ts'

/** Members that every canonical object has. */
export interface CommonMembers {
  created_at: string
  created_by: string
  record_id: string
  record_type: RecordType
  related_records: readonly string[]
  schema_version: string
  tenant_id: string
}

/** A record before the server fills in id, time, hash and seal. */
export interface RecordDraft {
  recordType: RecordType
  /** Subject of the token, or `service:hub`. */
  createdBy: string
  /** Type-specific fields, validated and normalised, exactly as the canonical object is to hold them. */
  fields: Record<string, JsonValue>
  /** Ids the caller has checked to exist; none if absent. */
  relatedRecords?: readonly string[] | undefined
  /** `fields` and the common members as one object, in the order of their names: where that is known, none sorts them. */
  arrange?(common: CommonMembers): JsonObject
}

/** A record that is hashed and sealed, ready to be stored. */
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
  /** Of its tree, see `upperNodesOf`. */
  upperNodes: Uint8Array
  signature: Uint8Array
  /** Its leaf in the tenant's log. */
  logLeaf: Uint8Array
  /** Between which ids its records lie, both included. */
  firstId: string
  lastId: string
}

export interface SealedBatch {
  tenantId: string
  records: SealedRecord[]
  seals: Seal[]
  /** The key that contents are to be stored under; absent where there are none, and in modes A and C. */
  contentKeyId?: string
}

/**
 * Makes records of drafts: id and time, canonical bytes, hash, seals, cosignatures. No database work but the
 * first look-up of the tenant's key, for which a caller inside a transaction passes it. The records of one batch
 * must be stored in one transaction.
 *
 * In Mode B the salts tell which records are content, and of which key: for them the caller passes the sealer of
 * contents that they are going to be stored with. Events of the service are none.
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
  /** Through the application role and its row-level policy: records, links and seals. */
  insert(tx: TenantTx, batch: SealedBatch): Promise<void>
  /**
   * The steps of an ingest transaction that store the records: COPY into the month's partition, the seals, and the
   * links where there are any. At least one record.
   *
   * @param sealer of an encrypted batch
   */
  copySteps(batch: SealedBatch, sealer?: ContentEncryptor): IngestStep[]
}

/** The record store as other modules see it. */
export interface Records {
  sealer: RecordSealer
  writer: RecordWriter
  /**
   * Reads the id, hash and cosignature of records that the caller knows to exist, in the order of the ids; used
   * to answer a repeated request. Ids that are gone are left out.
   */
  receipts(tx: TenantTx, recordIds: readonly string[]): Promise<RecordReceipt[]>
  /** Returns those of the ids that name no record of the tenant that can still be read. */
  missing(tx: TenantTx, recordIds: readonly string[]): Promise<Set<string>>
  /** The smallest record id of a time: a record was created at or after it exactly if its id is not below. */
  firstIdAt(epochMs: number, microsOfMs: number): string
}

/** What a write is answered with (interface 4.2 and 4.3), in the names of the answer. */
export interface RecordReceipt {
  record_id: string
  provenance_hash: string
  provenance_cosign: string
}

/**
 * What the records of the ids say, by id: their canonical objects, and the hash as the API has it. Purged ones, and
 * those whose text cannot be read, are left out.
 */
export type ReadableRecords = (
  tx: TenantTx,
  recordIds: readonly string[],
) => Promise<Map<string, { members: JsonObject; provenanceHash: string }>>

/** What stands against destroying all content of a tenant at once. */
export interface ContentDestruction {
  /** Keeps holds from being placed or released until the transaction ends; to be called first. */
  lock(tx: TenantTx): Promise<void>
  /** Throws DomainError `legal-hold` and `retention`. */
  requireAllowed(tx: TenantTx): Promise<void>
}
