import { finished } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { IngestTx, TenantTx } from '../../db/database.ts'
import { recordPartitionOf } from '../../db/record-partitions.ts'
import type { RecordWriter, Seal, SealedBatch, SealedRecord } from './hub-types.ts'

/** Rows per INSERT: a statement takes at most 65,535 parameters. */
const rowsPerInsert = 1000

const copyColumns =
  'tenant_id, record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind, cost_micros, ' +
  'seal_id, leaf_index, salt, provenance_hash, canonical'

export function createRecordWriter(): RecordWriter {
  return {
    async insert(tx, batch) {
      requireTenant(tx, batch)
      for (const rows of chunksOf(batch.records.map((record) => recordRow(batch.tenantId, record)))) {
        await tx.db.insertInto('hub.records').values(rows).execute()
      }
      for (const rows of chunksOf(batch.seals.map((seal) => sealRow(batch.tenantId, seal)))) {
        await tx.db.insertInto('hub.seals').values(rows).execute()
      }
      for (const rows of chunksOf(linkRows(batch))) await tx.db.insertInto('hub.record_links').values(rows).execute()
    },

    async copy(tx, batch) {
      requireTenant(tx, batch)
      if (batch.records.some((record) => record.relatedRecords.length > 0)) {
        throw new Error('records with links are written through insert()')
      }
      for (const [partition, records] of Map.groupBy(batch.records, (record) => recordPartitionOf(record.recordId))) {
        await copyRows(tx, partition, records)
      }
      await insertSeals(tx, batch.seals)
    },
  }
}

/** Straight into the partition: the parent has a row-level policy, and PostgreSQL refuses COPY into such a table. */
async function copyRows(tx: IngestTx, partition: string, records: readonly SealedRecord[]): Promise<void> {
  const stream = tx.client.query(copyFrom(`copy hub.${partition} (${copyColumns}) from stdin`))
  stream.end(records.map((record) => copyLine(tx.tenantId, record)).join(''))
  await finished(stream)
}

function copyLine(tenantId: string, record: SealedRecord): string {
  const cells = [
    copyText(tenantId),
    record.recordId,
    record.recordType,
    copyText(record.createdBy),
    copyText(record.skillId),
    copyText(record.archetypeId),
    copyText(record.userId),
    copyText(record.eventKind),
    record.costMicros ?? '\\N',
    record.sealId,
    record.leafIndex,
    copyBytes(record.salt),
    copyBytes(record.recordHash),
    copyText(record.canonical),
  ]
  return `${cells.join('\t')}\n`
}

const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** Text format of COPY: backslash is its escape, tab and newline its separators, \N its null. */
function copyText(text: string | null): string {
  if (text === null) return '\\N'
  return text.replace(/[\\\t\n\r]/g, (character) => copyEscapes[character]!)
}

/** A bytea in hex, whose own backslash is escaped once for COPY. */
function copyBytes(bytes: Uint8Array): string {
  return `\\\\x${bytesOf(bytes).toString('hex')}`
}

/** VALUES and not INSERT … SELECT: hub.seals has a policy, and a distributed database would make a COPY of that. */
async function insertSeals(tx: IngestTx, seals: readonly Seal[]): Promise<void> {
  const values: unknown[] = [tx.tenantId]
  const rows = seals.map((seal) => {
    const { seal_id, key_id, sealed_at, leaves, signature } = sealRow(tx.tenantId, seal)
    const at = values.push(seal_id, key_id, sealed_at, leaves, signature) - 4
    return `($1, $${at}, $${at + 1}, $${at + 2}, $${at + 3}, $${at + 4})`
  })
  if (rows.length === 0) return
  await tx.client.query(
    `insert into hub.seals (tenant_id, seal_id, key_id, sealed_at, leaves, signature) values ${rows.join(', ')}`,
    values,
  )
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
  }
}

function sealRow(tenantId: string, seal: Seal) {
  return {
    tenant_id: tenantId,
    seal_id: seal.sealId,
    key_id: seal.keyId,
    sealed_at: seal.sealedAt,
    leaves: bytesOf(seal.leaves),
    signature: bytesOf(seal.signature),
  }
}

function linkRows(batch: SealedBatch) {
  return batch.records.flatMap((record) =>
    record.relatedRecords.map((to) => ({ tenant_id: batch.tenantId, from_id: record.recordId, to_id: to })),
  )
}

/** `pg` sends any other Uint8Array as a copy; a view costs nothing. */
function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function* chunksOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) yield rows.slice(start, start + rowsPerInsert)
}

/** A batch of one tenant in a transaction of another is a bug that row security would report less clearly. */
function requireTenant(tx: TenantTx | IngestTx, batch: SealedBatch): void {
  if (tx.tenantId !== batch.tenantId) throw new Error('the batch belongs to another tenant than the transaction')
}
