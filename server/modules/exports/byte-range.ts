/** A part of a file, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Reads a `Range` header for a file (RFC 9110, section 14.1.2): a part, `unsatisfiable`, or undefined for the whole
 * file. Several ranges, other units and unreadable text are ignored, as the section allows.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const parts = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '')
  if (parts === null) return undefined
  const [, first = '', last = ''] = parts
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= sizeBytes) return 'unsatisfiable'
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) }
}
