// Captures the statements that a service sends, with their values, for the reference that repeats them. Loaded with
// `node --import`. The measured service runs without it.
import pg from 'pg'
import type { Statement } from './statements.ts'

declare global {
  var benchStatements: Statement[]
}

globalThis.benchStatements = []
const sessions = new WeakMap<object, { number: number; running: number }>()
let sessionsSeen = 0

type Query = (...args: unknown[]) => unknown
const prototype = pg.Client.prototype as unknown as { query: Query }
const { query } = prototype

prototype.query = function captured(this: object, ...args: unknown[]): unknown {
  const session = sessions.get(this) ?? { number: sessionsSeen++, running: 0 }
  sessions.set(this, session)
  const [first, values] = args as [string | Partial<Statement>, unknown]
  const given: Partial<Statement> =
    typeof first === 'string' ? { text: first, ...(Array.isArray(values) && { values }) } : first
  const { text, name, rowMode } = given
  if (text !== undefined) {
    globalThis.benchStatements.push({
      session: session.number,
      withPrevious: session.running > 0,
      text,
      ...(given.values && { values: given.values }),
      ...(name && { name }),
      ...(rowMode && { rowMode }),
    })
  }
  const result = query.apply(this, args)
  if (result instanceof Promise) {
    session.running++
    void result.catch(() => {}).finally(() => session.running--)
  }
  return result
}
