import type { DatabaseLog } from '../../db/database.ts'
import type { StoredCheckpoints } from '../log/log-types.ts'
import type { TenantDirectory } from '../tenants/tenants-types.ts'
import type { TamperReporter } from '../verification/verification-types.ts'
import type { SweepCheck } from './sweep-types.ts'

/**
 * Reports known logs that are lost. Without its tenant, a log cannot store an event, so the service's process log and
 * health report it.
 */
export function createLostLogs(deps: {
  directory: Pick<TenantDirectory, 'find' | 'slugs'>
  storedCheckpoints?: Pick<StoredCheckpoints, 'lostLogs'> | undefined
  tampering: TamperReporter
  log: DatabaseLog
}): { look(): Promise<void> } {
  const { directory, storedCheckpoints, tampering, log } = deps
  /** The losses that the process log already contains, until the logs are back. */
  let reported = new Set<string>()

  async function reportMissingFile(logName: string): Promise<void> {
    for (const slug of await directory.slugs()) {
      const tenant = await directory.find(slug, { evenSuspended: true })
      if (tenant?.logName !== logName) continue
      const failedChecks: SweepCheck[] = ['kept_checkpoints_present']
      tampering.report(tenant, [{ subject: `log:${logName}`, failedChecks, found: {}, service: 'sweeper' }])
    }
  }

  return {
    async look() {
      const lost = (await storedCheckpoints?.lostLogs()) ?? []
      const fresh = lost.filter(({ log_name, problem }) => !reported.has(`${problem} ${log_name}`))
      reported = new Set(lost.map(({ log_name, problem }) => `${problem} ${log_name}`))
      for (const { log_name, problem } of fresh) {
        if (problem === 'no_tenant') {
          log.error(
            { log_name },
            'a log with stored checkpoints has no tenant any more: the tenant, or every key of it, was removed from the database',
          )
        } else if (problem === 'no_rows') {
          log.error(
            { log_name },
            'a log with stored checkpoints has no head or no key any more: the rows of its tenant were removed from the database',
          )
        } else {
          log.error({ log_name }, 'the stored checkpoints of a log are missing')
          await reportMissingFile(log_name)
        }
      }
    },
  }
}
