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
import { type Cell, CellList, type Cells, TextCells } from './parquet-cells.ts'

export interface ParquetOptions {
  includeProvenance: boolean
  verify: boolean
}

export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]

interface Column {
  element: SchemaElement
  cellOf(record: ExportedRecord): Cell
  writing: Omit<ColumnSource, 'name' | 'data'>
  /** Of hundreds of characters. */
  isLong: boolean
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

/** Different in each row: looking for a dictionary is of no use. */
const plain = { encoding: 'PLAIN' } as const
/** And random: nothing makes it shorter. */
const incompressible = { ...plain, codec: 'UNCOMPRESSED' } as const

/** The rows of one group, column by column: of a record nothing else is kept. */
export class ParquetColumns {
  readonly #columns: readonly Column[]
  readonly #cells: readonly Cells[]
  rows = 0
  /** Length of the texts, a measure of what the group takes. */
  units = 0

  constructor(options: ParquetOptions) {
    this.#columns = columnsOf(options)
    this.#cells = this.#columns.map(({ isLong }) => (isLong ? new TextCells() : new CellList()))
  }

  get schema(): SchemaElement[] {
    return [{ name: 'root', num_children: this.#columns.length }, ...this.#columns.map(({ element }) => element)]
  }

  add(record: ExportedRecord): void {
    const columns = this.#columns
    for (let at = 0; at < columns.length; at++) this.#cells[at]!.push(columns[at]!.cellOf(record))
    this.rows += 1
    this.units += record.canonical.length
  }

  /** The group so far; the next begins empty. */
  take(): ColumnSource[] {
    const taken = this.#columns.map(({ element, writing }, at) => {
      return { name: element.name, data: this.#cells[at]!.take(), offsetIndex: false, statistics: false, ...writing }
    })
    this.rows = 0
    this.units = 0
    return taken
  }
}

function columnsOf({ includeProvenance, verify }: ParquetOptions): Column[] {
  const [canonical, hash, cosign] = provenanceColumns
  const proving = [
    { ...columnOf(canonical, 'text', (record) => record.canonical, plain), isLong: true },
    { ...columnOf(hash, 'text', (record) => record.provenanceHash, incompressible), isLong: true },
    { ...columnOf(cosign, 'text', (record) => record.provenanceCosign, incompressible), isLong: true },
  ]
  const verified = columnOf(verifiedColumn, 'boolean', ({ verification }) => verification?.verified === true)
  return [...typedColumns.map(typedColumn), ...(includeProvenance ? proving : []), ...(verify ? [verified] : [])]
}

function typedColumn(column: (typeof typedColumns)[number]): Column {
  const { name, type } = column
  switch (type) {
    case 'timestamp':
      // Readers skip groups by time.
      return columnOf(name, type, ({ members }) => microsOfTimestamp(members[name]), { ...plain, statistics: true })
    case 'integer':
      return columnOf(name, type, ({ members }) => {
        const value = typedValue(column, members)
        return value === null ? null : BigInt(value as number)
      })
    default:
      return columnOf(name, type, ({ members }) => typedValue(column, members), name === 'record_id' ? plain : {})
  }
}

function columnOf(name: string, type: ColumnType, cellOf: Column['cellOf'], writing: Column['writing'] = {}): Column {
  return { element: { name, repetition_type: 'OPTIONAL', ...physical[type] }, cellOf, writing, isLong: false }
}
