import type { JsonObject, JsonValue } from '../../../../provenance/json.ts'

/** Maximum bytes of a whole result, which has its content twice: as an object, and as text for older clients. */
export const resultBytesMax = 64 * 1024
/** Maximum bytes of the content. Escaping doubles a text at most, so that twice the text and the object fit. */
export const contentBytesMax = 20 * 1024

export const bytesOf = (value: JsonValue) => Buffer.byteLength(JSON.stringify(value))

/** Returns a page that fits: asks for half of the items while it does not. */
export async function fittingPage(limit: number, read: (limit: number) => Promise<JsonObject>): Promise<JsonObject> {
  for (let count = limit; ; count = Math.floor(count / 2)) {
    const page = await read(count)
    if (count <= 1 || bytesOf(page) <= contentBytesMax) return page
  }
}

/** Returns as many of the items from an offset on as fit, and the offset behind them. */
export function fittingItems<Item extends JsonValue>(
  items: readonly Item[],
  from: number,
  { most, bytes }: { most: number; bytes: number },
): { page: Item[]; next: number } {
  const page: Item[] = []
  let left = bytes
  for (const item of items.slice(from, from + most)) {
    left -= bytesOf(item) + 1
    if (left < 0 && page.length > 0) break
    page.push(item)
  }
  return { page, next: from + page.length }
}

/** Maximum bytes of a part of a large record, as JSON. */
const partBytesMax = 10 * 1024
/** Maximum bytes of the members that stay in a large record. */
const keptBytesMax = 8 * 1024

/**
 * Splits a record that is too large: the smaller members, the names of the others, and a part of their JSON text.
 *
 * @param offset characters of that text that the caller has
 */
export function splitRecord(record: JsonObject, offset: number): JsonObject {
  const bySize = Object.entries(record).sort((a, b) => bytesOf(a[1]) - bytesOf(b[1]))
  const kept = new Set<string>()
  let bytes = 0
  for (const [name, value] of bySize) {
    bytes += bytesOf(name) + bytesOf(value) + 2
    if (bytes > keptBytesMax) break
    kept.add(name)
  }
  const partOf = (isKept: boolean) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => kept.has(name) === isKept))
  const text = JSON.stringify(partOf(false))
  const part = partFrom(text, offset)
  const end = offset + part.length
  return {
    record: partOf(true),
    omitted_members: Object.keys(record).filter((name) => !kept.has(name)),
    omitted_text: part,
    next_cursor: end < text.length ? String(end) : null,
  }
}

function partFrom(text: string, offset: number): string {
  let part = text.slice(offset, offset + partBytesMax)
  while (bytesOf(part) > partBytesMax) part = part.slice(0, Math.floor(part.length * 0.7))
  // Half of a surrogate pair would not be text.
  return part.length > 1 ? part.replace(/[\ud800-\udbff]$/, '') : part
}
