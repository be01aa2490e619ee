import type { Config } from '../../../server/config.ts'
import { openCheckpointFolder } from '../../../server/modules/log/checkpoint-sinks/checkpoint-file.ts'
import type { ExaminedDatabase } from '../examined-database.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const tenantsMaxDefault = 1_000
const lateSeconds = 300
const stuckSeconds = 3_600
const start = 'Start a process with the role worker or all; if one runs, its log says why the work fails.'

/** The waiting work of a tenant, and the newest state of its log. */
interface TenantRow {
  log_name: string
  oldest: string[]
  tree_size: number
  signed_seconds: number
}

/** Checks work that waits in the tables of tenants, and whether checkpoints outside of the database are current. */
export async function checkTenantWork(
  config: Config,
  database: ExaminedDatabase,
  { now, tenantsMax = tenantsMaxDefault }: { now: () => number; tenantsMax: number | undefined },
): Promise<Finding[]> {
  const rows = await readTenants(database, tenantsMax + 1)
  const checked = rows.slice(0, tenantsMax)
  const findings = [checkBacklog(checked, database, now), await checkCheckpoints(checked, config)]
  if (rows.length <= tenantsMax) return findings
  const note = `Only the first ${tenantsMax.toLocaleString('en-US')} tenants were checked.`
  return findings.map((finding) => ({ ...finding, detail: `${finding.detail} ${note}` }))
}

/** Row-level security binds the owner too, so each tenant is read in turn. */
function readTenants(database: ExaminedDatabase, limit: number): Promise<TenantRow[]> {
  return database.read(async (client) => {
    const { rows: tenants } = await client.query<{ slug: string; log_name: string }>(
      'select slug, log_name from hub.tenants order by slug limit $1',
      [limit],
    )
    const found: TenantRow[] = []
    for (const { slug, log_name } of tenants) {
      await client.query('select hub.set_tenant($1)', [slug])
      const { rows } = await client.query<Omit<TenantRow, 'log_name'>>(
        `select array_remove(array[
             (select delta_id::text from hub.telemetry_deltas where tenant_id = $1 order by delta_id limit 1),
             (select arrival_id::text from hub.seal_arrivals where tenant_id = $1 order by arrival_id limit 1),
             (select outbox_id::text from hub.webhook_outbox where tenant_id = $1 order by outbox_id limit 1)
           ], null) as oldest, coalesce(h.tree_size, 0)::float8 as tree_size,
           coalesce(extract(epoch from now() - h.signed_at), 0)::float8 as signed_seconds
         from (select 1) as one left join hub.log_heads h on h.tenant_id = $1`,
        [slug],
      )
      found.push({ log_name, ...rows[0]! })
    }
    return found
  })
}

/** Returns the time of a UUIDv7 (RFC 9562, section 5.7) in milliseconds. */
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

function checkBacklog(rows: readonly TenantRow[], { hubRuns }: ExaminedDatabase, now: () => number): Finding {
  const times = rows.flatMap(({ oldest }) => oldest.filter((id) => id[14] === '7').map(timeOf))
  const seconds = times.length === 0 ? 0 : Math.floor((now() - Math.min(...times)) / 1000)
  if (seconds < lateSeconds) return ok('queues', 'Seals, summaries and webhooks are up to date.')
  const detail = `Seals, summaries or webhooks of a tenant have waited for ${seconds} s.`
  return hubRuns && seconds >= stuckSeconds ? problem('queues', detail, start) : warning('queues', detail, start)
}

async function checkCheckpoints(rows: readonly TenantRow[], { checkpointSinks }: Config): Promise<Finding> {
  const check = 'checkpoints'
  if (checkpointSinks.length === 0) {
    const detail = 'HUB_CHECKPOINT_SINK is off: nobody can prove that a log was set back.'
    return warning(check, detail, 'Set it to a place where the administrator of the database cannot write.')
  }
  const folders = checkpointSinks.filter((sink) => sink.kind === 'file').map((sink) => sink.directory)
  if (folders.length === 0) return ok(check, 'Checkpoints are sent to web addresses, which this command cannot read.')
  const [stale, setBack]: [string[], string[]] = [[], []]
  for (const directory of folders) {
    const folder = openCheckpointFolder(directory)
    for (const { log_name, tree_size, signed_seconds } of rows) {
      const stored = (await folder.newest(log_name))?.tree_size ?? 0
      if (stored > tree_size) setBack.push(log_name)
      else if (stored < tree_size && signed_seconds > lateSeconds) stale.push(log_name)
    }
  }
  if (setBack.length > 0) {
    const detail = `The database has fewer log entries than a stored checkpoint of ${setBack[0]} says.`
    return problem(check, detail, 'Somebody set the database back. Run: hub log audit')
  }
  if (stale.length > 0) {
    const detail = `${stale.length} of ${rows.length} logs have no current checkpoint in ${folders.join(', ')}: ${stale[0]}.`
    return problem(check, detail, `${start} Check that the folder can be written to.`)
  }
  return ok(check, `Checkpoints are current in ${folders.join(', ')}.`)
}
