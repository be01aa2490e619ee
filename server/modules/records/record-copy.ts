import type { SealedRecord } from '../sealing/sealing-types.ts'

/** The columns of hub.records in the order in which {@link encodeRows} writes them. */
export const copyColumns =
  'tenant_id, record_id, record_type, created_by, skill_id, archetype_id, user_id, event_kind, cost_micros, ' +
  'seal_id, leaf_index, salt, provenance_hash, canonical, trace_id, session_id'

/**
 * Returns the name of the partition, without schema, that holds a record. It is the UTC month of its id's time (RFC
 * 9562, section 5.7: the first 48 bits are milliseconds since the epoch). The insert-only role copies straight into it.
 *
 * @param recordId a UUIDv7 in its text form
 */
export function recordPartitionOf(recordId: string): string {
  const milliseconds = Number.parseInt(recordId.slice(0, 8) + recordId.slice(9, 13), 16)
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(recordId)) throw new Error(`not a UUIDv7: ${recordId}`)
  const month = new Date(milliseconds).toISOString()
  return `records_y${month.slice(0, 4)}m${month.slice(5, 7)}`
}

const columnCount = 16
/** The signature, the flags and the length of the absent extension. */
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])

/** The largest size of a row's field count, the length before each field, and the fields of fixed size. */
const fixedBytesMax = 2 + 4 * columnCount + 16 + 8 + 16 + 2 + 16 + 32

/**
 * Encodes the rows in the binary format of COPY (PostgreSQL, reference page of COPY). Neither side escapes, prints or
 * parses it, and bytes and ids take half the space of text.
 */
export function encodeRows(tenantId: string, records: readonly SealedRecord[]): Buffer {
  const writer = new RowWriter(records.reduce((sum, record) => sum + sizeBytesMax(tenantId, record), 0))
  writer.bytes(header)
  for (const record of records) writeRow(writer, tenantId, record)
  writer.bytes(trailer)
  return writer.written()
}

/**
 * Returns an upper bound of a row's size. UTF-8 takes at most three bytes per UTF-16 unit; only the canonical text is
 * worth measuring.
 */
function sizeBytesMax(tenantId: string, record: SealedRecord): number {
  const { recordType, createdBy, skillId, archetypeId, userId, eventKind, canonical, traceId, sessionId } = record
  const units =
    tenantId.length +
    recordType.length +
    createdBy.length +
    (skillId?.length ?? 0) +
    (archetypeId?.length ?? 0) +
    (userId?.length ?? 0) +
    (eventKind?.length ?? 0) +
    (traceId?.length ?? 0) +
    (sessionId?.length ?? 0)
  return fixedBytesMax + 3 * units + Buffer.byteLength(canonical)
}

function writeRow(writer: RowWriter, tenantId: string, record: SealedRecord): void {
  writer.int16(columnCount)
  writer.text(tenantId)
  writer.uuid(record.recordId)
  writer.text(record.recordType)
  writer.text(record.createdBy)
  writer.text(record.skillId)
  writer.text(record.archetypeId)
  writer.text(record.userId)
  writer.text(record.eventKind)
  writer.bigint(record.costMicros)
  writer.uuid(record.sealId)
  writer.smallint(record.leafIndex)
  writer.bytea(record.salt)
  writer.bytea(record.recordHash)
  writer.text(record.canonical)
  writer.text(record.traceId)
  writer.text(record.sessionId)
}

/** Writes fields with their lengths, or the length -1 for null. */
class RowWriter {
  private readonly buffer: Buffer
  private at = 0

  constructor(sizeBytes: number) {
    this.buffer = Buffer.allocUnsafe(sizeBytes + header.length + trailer.length)
  }

  written(): Buffer {
    return this.buffer.subarray(0, this.at)
  }

  bytes(bytes: Uint8Array): void {
    this.buffer.set(bytes, this.at)
    this.at += bytes.length
  }

  int16(value: number): void {
    this.buffer[this.at] = value >> 8
    this.buffer[this.at + 1] = value & 0xff
    this.at += 2
  }

  smallint(value: number): void {
    this.length(2)
    this.int16(value)
  }

  /** Writes a safe integer as int8. */
  bigint(value: number | null): void {
    if (value === null) {
      this.length(-1)
    } else {
      this.length(8)
      this.int32(Math.floor(value / 2 ** 32))
      this.int32(value % 2 ** 32)
    }
  }

  bytea(bytes: Uint8Array): void {
    this.length(bytes.length)
    this.bytes(bytes)
  }

  text(text: string | null): void {
    const written = text === null ? -1 : this.buffer.write(text, this.at + 4)
    this.length(written)
    this.at += Math.max(0, written)
  }

  uuid(uuid: string): void {
    this.length(16)
    for (let at = 0; at < 36; at += 2) {
      if (uuid.charCodeAt(at) === dash) at++
      this.buffer[this.at++] = (hexValue(uuid.charCodeAt(at)) << 4) | hexValue(uuid.charCodeAt(at + 1))
    }
  }

  private length(value: number): void {
    this.int32(value)
  }

  private int32(value: number): void {
    const { buffer, at } = this
    buffer[at] = value >>> 24
    buffer[at + 1] = value >>> 16
    buffer[at + 2] = value >>> 8
    buffer[at + 3] = value
    this.at = at + 4
  }
}

const dash = 0x2d

/** Returns the value of a lowercase hexadecimal digit. */
function hexValue(code: number): number {
  return code < 0x40 ? code - 0x30 : code - 0x57
}
