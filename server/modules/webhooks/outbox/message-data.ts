import { webhookDataBytesMax } from '../../../../contract/limits.ts'
import type { JsonObject } from '../../../../provenance/json.ts'

/**
 * Truncates the data of a message: every endpoint gets a copy, and a client may write a megabyte into one event. Above
 * `webhookDataBytesMax` as JSON, the largest members are dropped until the rest fits, and `truncated` is true.
 */
export function truncateData(data: JsonObject): { data: JsonObject; bytes: number } {
  const bytes = sizeOf(data)
  if (bytes <= webhookDataBytesMax) return { data, bytes }
  const sizes = Object.entries(data).map(([name, value]) => ({ name, size: sizeOf({ [name]: value }) }))
  const largestFirst = sizes.toSorted((a, b) => b.size - a.size)
  const leftOut = new Set<string>()
  let left = bytes + sizeOf({ truncated: true }) - 1
  for (const { name, size } of largestFirst) {
    if (left <= webhookDataBytesMax) break
    leftOut.add(name)
    left -= size - 1
  }
  const kept = Object.entries(data).filter(([name]) => !leftOut.has(name))
  return { data: { ...Object.fromEntries(kept), truncated: true }, bytes: left }
}

function sizeOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value))
}
