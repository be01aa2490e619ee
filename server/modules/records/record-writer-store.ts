import type { ContentEncryptor, TenantTx } from '../../db/database.ts'
import type { IngestStep } from '../../db/ingest-script.ts'
import { contentEncryptor, requireContentKey } from '../../db/record-encryption.ts'
import type { EventBus } from '../../event-bus.ts'
import { serviceSubject } from '../../records/record-columns.ts'
import { shortenText } from '../../records/short-text.ts'
import type { Seal, SealedBatch, SealedRecord } from '../sealing/sealing-types.ts'
import { copyColumns, encodeRows, recordPartitionOf } from './record-copy.ts'
import type { RecordWriter } from './records-types.ts'

/** Rows per INSERT: a statement takes at most 65,535 parameters. */
const rowsPerInsert = 1000

export function createRecordWriter(events: EventBus): RecordWriter {
  return {
    async insert(tx, batch) {
      requireTenant(tx, batch)
      const records = batch.contentKeyId === undefined ? batch.records : encrypted(batch, await contentEncryptor(tx))
      for (const rows of chunksOf(records.map((record) => recordRow(batch.tenantId, record)))) {
        await tx.db.insertInto('hub.records').values(rows).execute()
      }
      for (const rows of chunksOf(batch.seals.map((seal) => sealRow(batch.tenantId, seal)))) {
        await tx.db.insertInto('hub.seals').values(rows).execute()
      }
      await tx.client.query(insertArrival.text, arrivalValues(batch))
      tx.afterCommit(() => events.publish('recordsSealed', { tenantId: batch.tenantId }))
      for (const rows of chunksOf(linkRows(batch))) await tx.db.insertInto('hub.record_links').values(rows).execute()
      const isEncrypted = batch.contentKeyId !== undefined
      await events.publishInTransaction(tx, 'recordsStored', { records: batch.records, isEncrypted })
    },

    copySteps(batch, encryptor, isShort = false) {
      const { tenantId, contentKeyId } = batch
      const stored = isShort ? { ...batch, records: batch.records.map((record) => shortened(tenantId, record)) } : batch
      const seals = batch.seals.map((seal) => sealStep(tenantId, seal))
      const arrival = { statement: insertArrival, values: arrivalValues(batch) }
      const others = [...seals, arrival, ...linkSteps(batch)]
      if (contentKeyId === undefined) return [...copies(tenantId, stored.records), ...others]
      if (encryptor === undefined) throw new Error('the batch must be encrypted')
      return [requireContentKey(tenantId, encryptor), ...copies(tenantId, encrypted(stored, encryptor)), ...others]
    },
  }
}

/** Replaces the text of a telemetry event by its short form, if it has one. */
function shortened(tenantId: string, record: SealedRecord): SealedRecord {
  if (record.recordType !== 'telemetry_event') return record
  const canonical = shortenText(record.canonical, { ...record, tenantId })
  return canonical === undefined ? record : { ...record, canonical }
}

function encrypted({ records, contentKeyId }: SealedBatch, encryptor: ContentEncryptor): SealedRecord[] {
  // Otherwise the salts would name another key than the one that encrypts the texts.
  if (encryptor.keyId !== contentKeyId) throw new Error('the records are sealed for another content key')
  return records.map((record) =>
    record.createdBy === serviceSubject
      ? record
      : { ...record, canonical: encryptor.encrypt(record.recordId, record.canonical) },
  )
}

/**
 * Copies directly into the partition: the parent has a row-level policy, and PostgreSQL refuses COPY into such a table.
 */
function copies(tenantId: string, records: readonly SealedRecord[]): IngestStep[] {
  const first = recordPartitionOf(records[0]!.recordId)
  // Ids are in order, so all belong to one month unless the last differs.
  const byPartition =
    recordPartitionOf(records.at(-1)!.recordId) === first
      ? [[first, records] as const]
      : [...Map.groupBy(records, (record) => recordPartitionOf(record.recordId))]
  return byPartition.map(([partition, rows]) => ({
    copy: `copy hub.${partition} (${copyColumns}) from stdin (format binary)`,
    data: encodeRows(tenantId, rows),
  }))
}

/**
 * Uses VALUES and not INSERT … SELECT: hub.seals has a policy, and a distributed database would convert the latter into
 * a COPY.
 */
const insertSeal = {
  name: 'hub_insert_seal',
  text: `insert into hub.seals (tenant_id, seal_id, key_id, sealed_at, leaves, upper_nodes, signature)
         values ($1, $2, $3, $4, $5, $6, $7)`,
}

function sealStep(tenantId: string, seal: Seal): IngestStep {
  const { seal_id, key_id, sealed_at, leaves, upper_nodes, signature } = sealRow(tenantId, seal)
  return { statement: insertSeal, values: [tenantId, seal_id, key_id, sealed_at, leaves, upper_nodes, signature] }
}

/** Announces the seals of a transaction to log integration. */
const insertArrival = {
  name: 'hub_insert_arrival',
  text: `insert into hub.seal_arrivals (tenant_id, arrival_id, seal_ids, first_ids, last_ids, log_leaves)
         values ($1, $2, $3::uuid[], $4::uuid[], $5::uuid[], $6)`,
}

function arrivalValues({ tenantId, seals }: SealedBatch): (string | Buffer)[] {
  // Array literals, because the steps of an ingest transaction are sent without conversion.
  const ids = (of: (seal: Seal) => string) => `{${seals.map(of).join(',')}}`
  return [
    tenantId,
    seals[0]!.sealId,
    ids((seal) => seal.sealId),
    ids((seal) => seal.firstId),
    ids((seal) => seal.lastId),
    Buffer.concat(seals.map((seal) => seal.logLeaf)),
  ]
}

/**
 * Uses ON CONFLICT, because a distributed database would otherwise convert the statement into a COPY, as with seals.
 */
const insertLinks = {
  name: 'hub_insert_links',
  text: `insert into hub.record_links (tenant_id, from_id, to_id)
         select $1::text, link.from_id, link.to_id from unnest($2::uuid[], $3::uuid[]) as link (from_id, to_id)
         on conflict do nothing`,
}

function linkSteps(batch: SealedBatch): IngestStep[] {
  if (!batch.records.some((record) => record.relatedRecords.length > 0)) return []
  const links = linkRows(batch)
  const from = links.map((link) => link.from_id)
  const to = links.map((link) => link.to_id)
  return [{ statement: insertLinks, values: [batch.tenantId, `{${from.join(',')}}`, `{${to.join(',')}}`] }]
}

function recordRow(tenantId: string, record: SealedRecord) {
  return {
    tenant_id: tenantId,
    record_id: record.recordId,
    record_type: record.recordType,
    created_by: record.createdBy,
    skill_id: record.skillId,
    archetype_id: record.archetypeId,
    user_id: record.userId,
    event_kind: record.eventKind,
    cost_micros: record.costMicros,
    seal_id: record.sealId,
    leaf_index: record.leafIndex,
    salt: bytesOf(record.salt),
    provenance_hash: bytesOf(record.recordHash),
    canonical: record.canonical,
    trace_id: record.traceId,
    session_id: record.sessionId,
  }
}

function sealRow(tenantId: string, seal: Seal) {
  return {
    tenant_id: tenantId,
    seal_id: seal.sealId,
    key_id: seal.keyId,
    sealed_at: seal.sealedAt,
    leaves: bytesOf(seal.leaves),
    upper_nodes: bytesOf(seal.upperNodes),
    signature: bytesOf(seal.signature),
  }
}

function linkRows(batch: SealedBatch) {
  return batch.records.flatMap((record) =>
    record.relatedRecords.map((to) => ({ tenant_id: batch.tenantId, from_id: record.recordId, to_id: to })),
  )
}

/** Returns a view as a Buffer, which costs nothing; `pg` would send any other Uint8Array as a copy. */
function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function* chunksOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) yield rows.slice(start, start + rowsPerInsert)
}

/** Throws if batch and transaction belong to different tenants. Row security would report that bug less clearly. */
function requireTenant(tx: TenantTx, batch: SealedBatch): void {
  if (tx.tenantId !== batch.tenantId) throw new Error('the batch belongs to another tenant than the transaction')
}
