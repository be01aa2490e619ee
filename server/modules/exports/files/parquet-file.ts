import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { PartPages } from './export-parts-types.ts'
import { ParquetColumns, type ParquetOptions } from './parquet-columns.ts'

/**
 * Limits of a row group, whichever comes first. A group is written without a pause, in some 30 ms; the footer describes
 * each group and column, and stays in memory until the end.
 */
const groupRowsMax = 4096
const groupUnitsMax = 8 * 1024 * 1024
const pageBytes = 128 * 1024
const chunkBytes = 512 * 1024

/** Yields a Parquet file: typed columns in row groups of bounded size; timestamps in microseconds, UTC. */
export async function* parquetFile(pages: PartPages, options: ParquetOptions): AsyncGenerator<Buffer> {
  const columns = new ParquetColumns(options)
  const writer = new ChunkWriter()
  const file = new ParquetWriter({ writer, schema: columns.schema, codec: 'SNAPPY', createdBy: 'org-memory-hub' })
  const writeGroup = () => {
    const { rows } = columns
    void file.write({ columnData: columns.take(), rowGroupSize: rows, pageSize: pageBytes })
    keepLess(file)
  }
  for await (const parts of pages) {
    for (const { records } of parts) {
      for (const record of records) {
        columns.add(record)
        if (columns.rows < groupRowsMax && columns.units < groupUnitsMax) continue
        writeGroup()
        yield* writer.take()
      }
    }
  }
  if (columns.rows > 0) writeGroup()
  void file.finish()
  yield* writer.take()
}

/** Reduces the footer data that stays in memory until the end: each group shares equal members with the first. */
function keepLess({ pendingIndexes, row_groups: groups }: ParquetWriter): void {
  // The file has no indexes, which these would become.
  pendingIndexes.length = 0
  const first = groups[0]!.columns
  for (const [at, { meta_data: meta }] of groups.at(-1)!.columns.entries()) {
    const known = first[at]!.meta_data
    if (meta === undefined || known === undefined) continue
    meta.path_in_schema = known.path_in_schema
    if (meta.encodings.join() === known.encodings.join()) meta.encodings = known.encodings
  }
}

/** Drops the bytes that were taken, while offsets continue. */
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
