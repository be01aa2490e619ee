import { parse } from 'csv-parse'
import { isJsonObject } from '../../provenance/index.ts'
import { documentBytesMax, type VerifiedFile } from '../verify/verified-file.ts'
import type { Place } from './place.ts'

/** Maximum bytes of a line. An event has far less; a line with prompts and answers may have much. */
const lineBytesMax = 4 * 1024 * 1024

type Content = { members: Record<string, unknown> } | { reason: string }

/** One object of the file, or the reason why a place has none. */
export type FileRow = { place: Place } & Content

/**
 * Reads a file of JSON lines, CSV with a header, or one JSON document: an object, an array, or pages `{"data": […]}`
 * as APIs answer them.
 *
 * @param read is called with the number of bytes of each piece of the unpacked file
 */
export async function* readRows(file: VerifiedFile, read: (bytes: number) => void): AsyncGenerator<FileRow> {
  if (/\.csv(\.gz)?$/i.test(file.path)) yield* csvRows(counted(file, read))
  else if (await isOneDocument(file)) yield* documentRows(file, read)
  else yield* lineRows(counted(file, read))
}

async function* counted(file: VerifiedFile, read: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of file.content()) {
    read(chunk.length)
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  }
}

async function* csvRows(content: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  const problems: FileRow[] = []
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    max_record_size: lineBytesMax,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      problems.push({ place: { line: Number(error?.lines ?? 0) }, reason: `cannot be read as CSV: ${error?.message}` })
      return undefined
    },
  })
  const reading = (async () => {
    for await (const chunk of content) if (!parser.write(chunk)) await new Promise((done) => parser.once('drain', done))
    parser.end()
  })().catch((error) => parser.destroy(error as Error))
  for await (const { record, info } of parser as AsyncIterable<{ record: Record<string, string>; info: Info }>) {
    yield* problems.splice(0)
    yield { place: { line: info.lines }, members: record }
  }
  await reading
  yield* problems
}

interface Info {
  /** The last line of the record. */
  lines: number
}

async function* lineRows(content: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  let line = 0
  for await (const text of linesOf(content)) {
    const place = { line: ++line }
    if (text === undefined) yield { place, reason: `is longer than ${lineBytesMax} bytes` }
    else if (text.trim() !== '') for (const each of objectsIn(parsed(text))) yield { place, ...each }
  }
}

/** Yields the lines; undefined for one that is too long, of which nothing is kept. */
async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  let pieces: Buffer[] = []
  let bytes = 0
  const take = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > lineBytesMax) pieces = []
    else pieces.push(piece)
  }
  const line = () => {
    const text = bytes > lineBytesMax ? undefined : Buffer.concat(pieces).toString()
    pieces = []
    bytes = 0
    return text
  }
  for await (const chunk of content) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end))
      yield line()
      start = end + 1
    }
    take(chunk.subarray(start))
  }
  if (bytes > 0) yield line()
}

async function isOneDocument(file: VerifiedFile): Promise<boolean> {
  const head = Buffer.from(file.head).toString().trimStart()
  const end = head.indexOf('\n')
  if (head.startsWith('[')) return true
  // A first line that is complete by itself begins a file of lines.
  if (!head.startsWith('{') || end === -1 || parsed(head.slice(0, end)) !== undefined) return false
  return parsed(Buffer.from((await file.document()) ?? '').toString()) !== undefined
}

async function* documentRows(file: VerifiedFile, read: (bytes: number) => void): AsyncGenerator<FileRow> {
  const content = await file.document()
  if (content === undefined) {
    const most = `${documentBytesMax / 1024 / 1024} MiB`
    yield {
      place: { object: 1 },
      reason: `is one JSON document of more than ${most}: write one object on each line instead`,
    }
    return
  }
  read(content.length)
  let object = 0
  for (const each of objectsIn(parsed(Buffer.from(content).toString()))) yield { place: { object: ++object }, ...each }
}

/** Yields an object, the objects of an array, or those of a page of an API. */
function* objectsIn(value: unknown): Generator<Content> {
  if (Array.isArray(value)) for (const each of value) yield* objectsIn(each)
  else if (!isJsonObject(value as never)) yield { reason: 'is not a JSON object' }
  else if (Array.isArray((value as { data?: unknown }).data)) yield* objectsIn((value as { data: unknown }).data)
  else yield { members: value as Record<string, unknown> }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}
