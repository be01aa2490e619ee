/** The place of a row in its file. Both count from 1, and the header of CSV is a line. */
export type Place = { line: number } | { object: number }

export function numberOf(place: Place): number {
  return 'line' in place ? place.line : place.object
}

/** Names the places of rows that follow each other: `lines 3 to 7`, or `objects 3 to 7` of a JSON document. */
export function placesOf(rows: readonly { place: Place }[]): string {
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row?.place ?? { line: 0 }) as [Place, Place]
  return `${'line' in first ? 'lines' : 'objects'} ${numberOf(first)} to ${numberOf(last)}`
}
