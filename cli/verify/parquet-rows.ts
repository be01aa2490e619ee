import { type FileHandle, open } from 'node:fs/promises'
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { typedColumns } from '../../contract/export-columns.ts'
import { runSync } from '../../provenance/computation.ts'
import type { ExportVerifier } from '../../provenance/export-verifier.ts'
import { nodeCrypto } from '../../server/modules/hub/node-crypto.ts'
import { type ColumnLayout, isSameParquetCell, layoutOf, problemsOfCells } from './typed-cells.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Values as exact as they are stored: no Date, which has milliseconds, and no JSON that is parsed. */
const parsers = {
  timestampFromMicroseconds: (micros: bigint) => micros,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
}

/** Verifies the rows of a Parquet file, one row group after the other. */
export async function verifyParquetRows(path: string, sizeBytes: number, verifier: ExportVerifier): Promise<void> {
  const handle = await open(path)
  try {
    const file = bufferOf(handle, sizeBytes)
    const metadata = await attempt(() => parquetMetadataAsync(file, { parsers }))
    if (metadata === undefined) return verifier.wrong('parquet-malformed: it has no footer of a Parquet file')
    await verifyGroups(file, metadata, sizeBytes, verifier)
  } finally {
    await handle.close()
  }
}

async function verifyGroups(file: AsyncBuffer, metadata: FileMetaData, sizeBytes: number, verifier: ExportVerifier) {
  const names = parquetSchema(metadata).children.map(({ element }) => element.name)
  const layout = layoutOf(names)
  if (layout === undefined) return verifier.wrong('columns: its columns are not those of an export')
  let row = 0
  for (const [group, { num_rows }] of metadata.row_groups.entries()) {
    const count = Number(num_rows)
    // A row has more than a byte: only a damaged file says otherwise, and it must not be believed.
    if (!Number.isSafeInteger(count) || count < 0 || count > sizeBytes) {
      return verifier.wrong(`parquet-malformed: row group ${group + 1} has no possible number of rows`)
    }
    const rows = await attempt(() =>
      parquetReadObjects({ file, metadata, parsers, rowStart: row, rowEnd: row + count, columns: names }),
    )
    if (rows?.length === count)
      for (const [i, cells] of rows.entries()) verifyRow(row + i + 1, cells, names, layout, verifier)
    else {
      const which = `row group ${group + 1} (rows ${row + 1} to ${row + count})`
      verifier.unreadable(row + 1, `parquet-malformed: ${which} cannot be read`)
    }
    row += count
  }
}

function verifyRow(
  row: number,
  named: Record<string, unknown>,
  names: readonly string[],
  layout: ColumnLayout,
  verifier: ExportVerifier,
): void {
  if (!layout.hasProvenance) {
    verifier.plainRow(row)
    return
  }
  const cells = names.map((name) => named[name])
  const textAt = (column: number) => {
    const cell = cells[typedColumns.length + column]
    return typeof cell === 'string' ? cell : ''
  }
  const verification = verifier.cells(row, { canonical: textAt(0), hash: textAt(1), cosign: textAt(2) }, (record) =>
    problemsOfCells(cells, record, layout, isSameParquetCell),
  )
  runSync(verification, nodeCrypto)
}

function bufferOf(handle: FileHandle, byteLength: number): AsyncBuffer {
  return {
    byteLength,
    async slice(start, end = byteLength) {
      // What a damaged file says of its own length must not be believed.
      const length = Math.max(0, Math.min(end, byteLength) - start)
      const bytes = new Uint8Array(length)
      let at = 0
      while (at < length) {
        const { bytesRead } = await handle.read(bytes, at, length - at, start + at)
        if (bytesRead === 0) break
        at += bytesRead
      }
      return bytes.buffer
    },
  }
}

/** The reader throws errors of any kind for what is damaged. */
async function attempt<Value>(read: () => Value | Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch {
    return undefined
  }
}
