import { Piscina } from 'piscina'
import { typedColumns } from '../../contract/export-columns.ts'
import type { ExportVerifier } from '../../provenance/export/export-verifier.ts'
import { runSync } from '../../provenance/sync-async-runner.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import type { ParquetColumns, ParquetShape, ParquetTask } from './parquet-worker.ts'
import { type ColumnLayout, isSameParquetCell, layoutOf, problemsOfCells } from './typed-cells.ts'

/** A thousand times the usual time for reading a row group. */
const groupMsDefault = 60_000
const memoryMb = 2048

/**
 * Verifies the rows of a Parquet file, one row group after the other. Another thread reads the file: a damaged file may
 * make the reader loop or exhaust memory, and then only that thread ends.
 */
export async function verifyParquetRows(
  file: { path: string; sizeBytes: number },
  verifier: ExportVerifier,
  groupMs = groupMsDefault,
): Promise<void> {
  const reader = new Piscina<ParquetTask, ParquetShape | ParquetColumns>({
    filename: new URL('./parquet-worker.ts', import.meta.url).href,
    maxThreads: 1,
    minThreads: 0,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  })
  const { path, sizeBytes } = file
  const read = async (rows?: ParquetTask['rows']) => {
    try {
      return await reader.run({ path, sizeBytes, ...(rows && { rows }) }, { signal: AbortSignal.timeout(groupMs) })
    } catch {
      // Ignores the error: it may be of any kind and quote the file.
      return undefined
    }
  }
  try {
    const shape = (await read()) as ParquetShape | undefined
    if (shape === undefined) verifier.wrong('parquet-malformed: it has no footer of a Parquet file')
    else
      await verifyGroups(
        shape,
        sizeBytes,
        read as (rows: ParquetTask['rows']) => Promise<ParquetColumns | undefined>,
        verifier,
      )
  } finally {
    await reader.destroy()
  }
}

async function verifyGroups(
  { names, groups }: ParquetShape,
  sizeBytes: number,
  read: (rows: { from: number; to: number }) => Promise<ParquetColumns | undefined>,
  verifier: ExportVerifier,
): Promise<void> {
  const layout = layoutOf(names)
  if (layout === undefined) return verifier.wrong('columns: its columns are not those of an export')
  let from = 0
  for (const [group, count] of groups.entries()) {
    // A row takes more than a byte. Only a damaged file states a higher count.
    if (!Number.isSafeInteger(count) || count < 0 || count > sizeBytes) {
      return verifier.wrong(`parquet-malformed: row group ${group + 1} has no possible number of rows`)
    }
    const columns = await read({ from, to: from + count })
    if (columns?.every(({ length }) => length === count)) {
      for (let i = 0; i < count; i++)
        verifyRow(
          from + i + 1,
          columns.map((column) => column[i]),
          layout,
          verifier,
        )
    } else {
      const rows = `rows ${from + 1} to ${from + count}`
      verifier.unreadable(from + 1, `parquet-malformed: row group ${group + 1} (${rows}) cannot be read`)
    }
    from += count
  }
}

function verifyRow(row: number, cells: readonly unknown[], layout: ColumnLayout, verifier: ExportVerifier): void {
  if (!layout.hasProvenance) {
    verifier.plainRow(row)
    return
  }
  const textAt = (column: number) => {
    const cell = cells[typedColumns.length + column]
    return typeof cell === 'string' ? cell : ''
  }
  const verification = verifier.cells(row, { canonical: textAt(0), hash: textAt(1), cosign: textAt(2) }, (record) =>
    problemsOfCells(cells, record, layout, isSameParquetCell),
  )
  runSync(verification, nodeCrypto)
}
