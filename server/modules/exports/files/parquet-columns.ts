import type { ColumnSource, ParquetWriter } from 'hyparquet-writer'
import {
  type ColumnType,
  microsOfTimestamp,
  provenanceColumns,
  typedColumns,
  typedValue,
  verifiedColumn,
} from '../../../../contract/export-columns.ts'
import type { ExportedRecord } from './export-parts-types.ts'
import { type Cell, type Cells, cellsOf, dataOf } from './parquet-cells.ts'

export interface ParquetOptions {
  includeProvenance: boolean
  verify: boolean
}

export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

interface Column {
  name: string
  type: ColumnType
  cellOf(record: ExportedRecord): Cell
}

const physical: Record<ColumnType, Omit<SchemaElement, 'name'>> = {
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

/** Columns whose texts many rows share. */
const repeated = new Set([
  ...['record_type', 'tenant_id', 'created_by', 'schema_version', 'related_records'],
  ...[
    'skill_id',
    'skill_version',
    'archetype_id',
    'user_id',
    'llm_platform',
    'llm_model',
    'content_type',
    'media_type',
  ],
  ...['decision_outcome', 'decision_actor_role', 'event_kind', 'owner', 'price_source', 'error_code'],
  ...['trace_id', 'session_id'],
])
/** Columns of random values, which no codec makes shorter. */
const incompressible = new Set<string>(['provenance_hash', 'provenance_cosign'])

/** Holds the rows of one group by column, and nothing else of a record. */
export class ParquetColumns {
  readonly #columns: readonly Column[]
  readonly #cells: readonly Cells[]
  rows = 0
  /** The length of the texts, a measure of the memory of the group. */
  units = 0

  constructor(options: ParquetOptions) {
    this.#columns = columnsOf(options)
    this.#cells = this.#columns.map(({ name, type }) => cellsOf(type, repeated.has(name)))
  }

  get schema(): SchemaElement[] {
    const elements = this.#columns.map(({ name, type }) => {
      return { name, repetition_type: 'OPTIONAL' as const, ...physical[type] }
    })
    return [{ name: 'root', num_children: elements.length }, ...elements]
  }

  add(record: ExportedRecord): void {
    for (let at = 0; at < this.#columns.length; at++) this.#cells[at]!.push(this.#columns[at]!.cellOf(record))
    this.rows += 1
    this.units += record.canonical.length
  }

  /** Returns the group so far, for immediate writing. The next group begins empty. */
  take(): ColumnSource[] {
    this.rows = 0
    this.units = 0
    return this.#columns.map(({ name, type }, at) => ({
      name,
      data: dataOf(this.#cells[at]!),
      offsetIndex: false,
      // Readers skip groups by time.
      statistics: type === 'timestamp',
      // The writer tries a dictionary only for columns that may have one.
      ...(repeated.has(name) || type === 'boolean' ? {} : { encoding: 'PLAIN' as const }),
      ...(incompressible.has(name) ? { codec: 'UNCOMPRESSED' as const } : {}),
    }))
  }
}

function columnsOf({ includeProvenance, verify }: ParquetOptions): Column[] {
  const [canonical, hash, cosign] = provenanceColumns
  const typed = typedColumns.map((column): Column => {
    const { name, type } = column
    if (type === 'timestamp') return { name, type, cellOf: ({ members }) => microsOfTimestamp(members[name]) }
    return { name, type, cellOf: ({ members }) => typedValue(column, members) }
  })
  const proving: Column[] = [
    { name: canonical, type: 'text', cellOf: (record) => record.canonical },
    { name: hash, type: 'text', cellOf: (record) => record.provenanceHash },
    { name: cosign, type: 'text', cellOf: (record) => record.provenanceCosign },
  ]
  const verified: Column = {
    name: verifiedColumn,
    type: 'boolean',
    cellOf: ({ verification }) => verification?.verified === true,
  }
  return [...typed, ...(includeProvenance ? proving : []), ...(verify ? [verified] : [])]
}
