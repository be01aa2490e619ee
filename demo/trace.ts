/** One row of the trace. */
export interface Invocation {
  row: number
  /** Microseconds since the first row. */
  offsetMicros: number
  tokensIn: number
  tokensOut: number
}

/** Reads the CSV of the trace: a header, then `timestamp,context tokens,generated tokens` in order of time. */
export function parseTrace(csv: string): Invocation[] {
  const lines = csv.trim().split(/\r?\n/).slice(1)
  const rows = lines.map((line) => {
    const [timestamp = '', tokensIn, tokensOut] = line.split(',')
    return { micros: microsOf(timestamp), tokensIn: Number(tokensIn), tokensOut: Number(tokensOut) }
  })
  const first = rows[0]?.micros ?? 0
  return rows.map(({ micros, tokensIn, tokensOut }, row) => ({
    row,
    offsetMicros: micros - first,
    tokensIn,
    tokensOut,
  }))
}

/** Converts `2023-11-16 18:15:46.6805900` in UTC to microseconds since the epoch. Cuts the last digit (100 ns). */
function microsOf(timestamp: string): number {
  const [seconds = '', fraction = ''] = timestamp.split('.')
  return Date.parse(`${seconds.replace(' ', 'T')}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}
