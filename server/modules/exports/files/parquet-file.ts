import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import {
  type ColumnType,
  microsOfTimestamp,
  provenanceColumns,
  type TypedValue,
  typedColumns,
  typedValue,
  verifiedColumn,
} from '../../../../contract/export-columns.ts'
import type { ExportedRecord, PartPages } from './export-parts-types.ts'

interface ParquetOptions {
  includeProvenance: boolean
  verify: boolean
}

/** Of a row group, whichever comes first: memory is bounded by it, and the footer by how few there are. */
const groupRows = 8192
const groupUnits = 12 * 1024 * 1024

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

const physical: Record<ColumnType, Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
}

/** Different in each row: a dictionary, and the smallest and largest value, are of no use. */
const unique = new Set<string>(['record_id', ...provenanceColumns])

interface Column {
  name: string
  type: ColumnType
  read(record: ExportedRecord): TypedValue
}

/** Typed columns in row groups of bounded size; timestamps in microseconds, UTC. */
export async function* parquetFile(pages: PartPages, options: ParquetOptions): AsyncGenerator<Buffer> {
  const columns = columnsOf(options)
  const writer = new ChunkWriter()
  const file = new ParquetWriter({ writer, schema: schemaOf(columns), codec: 'SNAPPY', createdBy: 'org-memory-hub' })
  let group: ExportedRecord[] = []
  let units = 0
  for await (const parts of pages) {
    for (const { records } of parts) {
      for (const record of records) {
        group.push(record)
        units += record.canonical.length
        if (group.length < groupRows && units < groupUnits) continue
        writeGroup(file, columns, group)
        group = []
        units = 0
        yield* writer.take()
      }
    }
  }
  if (group.length > 0) writeGroup(file, columns, group)
  file.finish()
  yield* writer.take()
}

function columnsOf({ includeProvenance, verify }: ParquetOptions): Column[] {
  const text = (name: string, read: Column['read']): Column => ({ name, type: 'text', read })
  return [
    ...typedColumns.map((column) => ({
      ...column,
      read: ({ members }: ExportedRecord) => typedValue(column, members),
    })),
    ...(includeProvenance
      ? [
          text(provenanceColumns[0], ({ canonical }) => canonical),
          text(provenanceColumns[1], ({ provenanceHash }) => provenanceHash),
          text(provenanceColumns[2], ({ provenanceCosign }) => provenanceCosign),
        ]
      : []),
    ...(verify
      ? [
          {
            name: verifiedColumn,
            type: 'boolean' as const,
            read: ({ verification }: ExportedRecord) => verification?.verified === true,
          },
        ]
      : []),
  ]
}

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...physical[type] })),
  ]
}

function writeGroup(file: ParquetWriter, columns: readonly Column[], records: readonly ExportedRecord[]): void {
  const columnData = columns.map(({ name, type, read }): ColumnSource => {
    const data = records.map((record) => physicalValue(type, read(record)))
    const asItIs = unique.has(name) ? { encoding: 'PLAIN' as const, statistics: name === 'record_id' } : {}
    // Cosignatures and hashes are random: nothing makes them shorter.
    const codec = name.startsWith('provenance_') ? { codec: 'UNCOMPRESSED' as const } : {}
    return { name, data, offsetIndex: false, ...asItIs, ...codec }
  })
  file.write({ columnData, rowGroupSize: records.length })
}

function physicalValue(type: ColumnType, value: TypedValue): TypedValue | bigint {
  if (value === null) return null
  if (type === 'timestamp') return microsOfTimestamp(value as string)
  if (type === 'integer') return BigInt(value as number)
  return value
}

/** What was taken is gone from it, while offsets go on. */
class ChunkWriter extends ByteWriter {
  readonly #chunks: Buffer[] = []

  override ensure(size: number): void {
    if (this.index > chunkBytes) this.#passOn()
    super.ensure(size)
  }

  take(): Buffer[] {
    this.#passOn()
    return this.#chunks.splice(0)
  }

  #passOn(): void {
    if (this.index === 0) return
    this.#chunks.push(Buffer.from(this.getBytes()))
    this.index = 0
  }
}

const chunkBytes = 512 * 1024
