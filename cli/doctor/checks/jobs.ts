import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const check = 'jobs'
const stuckSeconds = 3_600

interface QueueRow {
  name: string
  failed: number
  late: number
  late_seconds: number
}

/** Looks for jobs that failed for good within a day, and for jobs that should have begun minutes ago. */
export async function checkJobs(database: ExaminedDatabase): Promise<Finding[]> {
  const { rows } = await database.read((client) =>
    client.query<QueueRow>(
      `select name, failed::int, late::int, late_seconds::float8 from (
         select name,
           count(*) filter (where state = 'failed' and completed_on > now() - interval '1 day') as failed,
           count(*) filter (where state in ('created', 'retry') and start_after < now() - interval '5 minutes') as late,
           coalesce(extract(epoch from now() - min(start_after) filter (where state in ('created', 'retry'))), 0)
             as late_seconds
         from hub_jobs.job group by name) as queues
       where failed > 0 or late > 0 order by late desc, failed desc, name`,
    ),
  )
  const findings: Finding[] = []
  const late = rows.filter((row) => row.late > 0)
  if (late.length > 0) {
    const seconds = Math.floor(Math.max(...late.map((row) => row.late_seconds)))
    const detail = `Jobs wait for over 5 minutes, the oldest for ${seconds} s: ${listed(late, 'late')}.`
    const action = 'Start a process with the role worker or all; if one runs, see its log.'
    const isStuck = database.hubRuns && seconds > stuckSeconds
    findings.push(isStuck ? problem(check, detail, action) : warning(check, detail, action))
  }
  const failed = rows.filter((row) => row.failed > 0)
  if (failed.length > 0) {
    const detail = `Failed within a day, after all retries: ${listed(failed, 'failed')}.`
    findings.push(warning(check, detail, 'The log of the worker has the reason of each.'))
  }
  return findings.length > 0 ? findings : [ok(check, 'No job has failed within a day, and none is late.')]
}

function listed(rows: readonly QueueRow[], of: 'late' | 'failed'): string {
  return rows.map((row) => `${row.name} (${row[of]})`).join(', ')
}
