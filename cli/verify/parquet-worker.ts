import { type FileHandle, open } from 'node:fs/promises'
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'

/** The task of the thread that reads a Parquet file: its shape, or the rows of one group. */
export interface ParquetTask {
  path: string
  sizeBytes: number
  rows?: { from: number; to: number }
}

/** The names of the columns, and the number of rows in each group. */
export interface ParquetShape {
  names: string[]
  groups: number[]
}

/** Values by column, in the order of the names. */
export type ParquetColumns = unknown[][]

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Keeps values as exact as stored: no Date, which has only milliseconds, and no parsed JSON. */
const parsers = {
  timestampFromMicroseconds: (micros: bigint) => micros,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
}

let known: { path: string; file: AsyncBuffer; metadata: FileMetaData } | undefined

/**
 * Reads a shape or a row group. For a damaged file it throws errors of any kind, or never ends: see `parquet-rows.ts`.
 */
export default async function readParquet({
  path,
  sizeBytes,
  rows,
}: ParquetTask): Promise<ParquetShape | ParquetColumns> {
  known = known?.path === path ? known : await openFile(path, sizeBytes)
  const { file, metadata } = known
  const names = parquetSchema(metadata).children.map(({ element }) => element.name)
  if (rows === undefined) return { names, groups: metadata.row_groups.map(({ num_rows }) => Number(num_rows)) }
  const { from: rowStart, to: rowEnd } = rows
  const found = await parquetReadObjects({ file, metadata, parsers, rowStart, rowEnd, columns: names })
  return names.map((name) => found.map((row) => row[name] as unknown))
}

async function openFile(path: string, sizeBytes: number) {
  const file = bufferOf(await open(path), sizeBytes)
  return { path, file, metadata: await parquetMetadataAsync(file, { parsers }) }
}

function bufferOf(handle: FileHandle, byteLength: number): AsyncBuffer {
  return {
    byteLength,
    async slice(start, end = byteLength) {
      // A damaged file may state a wrong length.
      const bytes = new Uint8Array(Math.max(0, Math.min(end, byteLength) - start))
      let at = 0
      while (at < bytes.length) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
        if (bytesRead === 0) break
        at += bytesRead
      }
      return bytes.buffer
    },
  }
}
