import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

/** Tokens of another machine are accepted up to this difference. */
const problemMs = 5_000
const warningMs = 1_000

/** Compares the clock of this machine with that of the database, less the time of the request. */
export async function checkClock(database: ExaminedDatabase, now: () => number): Promise<Finding> {
  const { before, after, there } = await database.read(async (client) => {
    const sentAt = now()
    const { rows } = await client.query<{ ms: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
    )
    return { before: sentAt, after: now(), there: rows[0]!.ms }
  })
  const offBy = there < before ? there - before : there > after ? there - after : 0
  const seconds = (Math.abs(offBy) / 1000).toFixed(1)
  const detail = `This machine is ${seconds} s ${offBy > 0 ? 'behind' : 'ahead of'} the database.`
  const action = 'Synchronise the clocks of all machines, for example by NTP.'
  if (Math.abs(offBy) > problemMs) return problem('clock', detail, action)
  if (Math.abs(offBy) > warningMs) return warning('clock', detail, action)
  return ok('clock', 'The clock agrees with the database.')
}
