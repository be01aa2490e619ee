import type { Static } from 'typebox'
import type { ReceiptSchema } from '../../../contract/response-schemas.ts'
import type { JsonObject } from '../../../provenance/json.ts'
import type { ContentEncryptor, TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import type { RecordSealer, SealedBatch } from '../sealing/sealing-types.ts'

/** Stores sealed records. */
export interface RecordWriter {
  /** Stores records, links and seals through the application role and its row-level policy. */
  insert(tx: TenantTx, batch: SealedBatch): Promise<void>
  /**
   * Returns the steps of an ingest transaction that store the records: COPY into the month's partition, the seals, and
   * any links. Requires at least one record.
   *
   * @param encryptor the encryptor of an encrypted batch
   * @param isShort whether texts of telemetry events are stored in short form (see {@link Records.storesShortTexts})
   */
  copySteps(batch: SealedBatch, encryptor?: ContentEncryptor, isShort?: boolean): IngestStep[]
}

/** Provides the record store to other modules. */
export interface Records {
  sealer: RecordSealer
  writer: RecordWriter
  /** Returns whether ingest may store texts in short form. */
  storesShortTexts(tenantId: string): Promise<boolean>
  /**
   * Reads the id, hash and cosignature of existing records in id order, to answer a repeated request. Skips deleted
   * records.
   */
  receipts(tx: TenantTx, recordIds: readonly string[]): Promise<RecordReceipt[]>
  /** Returns the ids that name no readable record of the tenant. */
  missing(tx: TenantTx, recordIds: readonly string[]): Promise<Set<string>>
}

/** The response to a write (interface 4.2 and 4.3), with the names of the API. */
export type RecordReceipt = Static<typeof ReceiptSchema>

/**
 * Returns the canonical objects of records by id, with the hash in its API form. Skips purged and unreadable records.
 */
export type ReadableRecords = (
  tx: TenantTx,
  recordIds: readonly string[],
) => Promise<Map<string, { members: JsonObject; provenanceHash: string }>>
