import { bodyOf, eventsOf, utf8LengthOf } from './event-body.ts'

/** Maximum bytes of the bodies that browsers send after the page is left (`keepalive` of the Fetch standard). */
const keepaliveBytesMax = 64 * 1024

/** Events of a batch that are sent together. */
export interface Part {
  body: Uint8Array
  /** Differs between the parts of a batch, and is the same when the batch is sent again after a crash. */
  key: string
  /** Counts the requests that left out refused events. */
  round: number
}

/** Returns the idempotency key of a part's request. */
export function keyOf({ key, round }: Part): string {
  return round === 0 ? key : `${key}.${round}`
}

/** Returns events as one part; nothing without events. */
export function partOf(events: readonly unknown[], key: string, round = 0): Part[] {
  const body = bodyOf(events.map((event) => JSON.stringify(event)))
  return body ? [{ body, key, round }] : []
}

/** Returns both halves of a part; undefined for a single event. */
export function halvesOf(part: Part): Part[] | undefined {
  const events = eventsOf(part.body)
  return events.length > 1 ? splitAt(part, events, Math.ceil(events.length / 2)).flat() : undefined
}

/** Returns the newest events of a part, as many as one request may carry after the page is left, and those before them. */
export function newestOf(part: Part): [newest: Part[], older: Part[]] {
  const events = eventsOf(part.body)
  let surplus = part.body.length - keepaliveBytesMax
  let at = 0
  // Each event is followed by a separator.
  while (surplus > 0 && at < events.length) surplus -= (utf8LengthOf(JSON.stringify(events[at++])) ?? 0) + 1
  if (at === 0) return [[part], []]
  const [older, newest] = splitAt(part, events, at)
  return [newest, older]
}

function splitAt(part: Part, events: readonly unknown[], at: number): [Part[], Part[]] {
  const key = keyOf(part)
  return [partOf(events.slice(0, at), `${key}a`), partOf(events.slice(at), `${key}b`)]
}
