/** A statement that the service sent. */
export interface Statement {
  /** The number of its connection. */
  session: number
  /** True if it was sent before the previous statement was answered. */
  withPrevious: boolean
  text: string
  values?: unknown[]
  name?: string
  rowMode?: 'array'
}

/** Groups of statements that are sent together, one group after the other: one request of the service. */
export type Sequence = Statement[][]

/**
 * Returns the transaction that reads records.
 *
 * @param captured statements sent while the service answered one page
 */
export function recordsTransaction(captured: readonly Statement[]): Sequence {
  const reads = captured.find(({ text }) => /\bcanonical\b/.test(text) && /\bhub\W+records\b/.test(text))
  if (reads === undefined) throw new Error('the service sent no statement that reads records')
  const own = captured.filter(({ session }) => session === reads.session)
  const at = own.indexOf(reads)
  const from = own.findLastIndex(({ text }, place) => place <= at && /^begin\b/i.test(text))
  const to = own.findIndex(({ text }, place) => place >= at && /\bcommit\b/i.test(text))
  if (from < 0 || to < 0) throw new Error(`no transaction around: ${reads.text}`)
  const groups: Sequence = []
  for (const statement of own.slice(from, to + 1)) {
    const group = groups.at(-1)
    if (statement.withPrevious && group) group.push(statement)
    else groups.push([statement])
  }
  return groups
}
