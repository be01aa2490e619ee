import { Argument, type Command } from 'commander'
import { parseTimestamp } from '../../contract/timestamp.ts'
import { StartupError } from '../../server/startup-error.ts'
import { exitFailure, type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, type Services, tenantNamed, withServices } from '../services.ts'

interface RunOptions extends OutputOptions {
  tenant?: string
  asOf?: string
}

interface Job {
  /** Does it for one tenant, and answers what it did: counts, in the names of the output. */
  run(services: Services, tenant: string, options: { asOf?: string }): Promise<Record<string, number>>
  /** It can be done as if it were another time. */
  takesTime?: boolean
  describe(done: Record<string, number>): string
  /** What it did shows that something is wrong: the command ends with exit code 1. */
  hasFailed?(done: Record<string, number>): boolean
}

/** What the service does by itself sooner or later. */
const jobs: Readonly<Record<string, Job>> = {
  'fold-rollups': {
    run: ({ rollups }, tenant) => rollups.settle(tenant),
    describe: ({ deltas, days }) => `${deltas} deltas folded, ${days} days closed`,
  },
  'hard-delete': {
    run: async (services, slug, options) => {
      const tenant = await tenantNamed(services, slug)
      const purged = await services.erasure.purgeOverdue(tenant, options)
      return { purged, ...(await services.erasure.run(tenant, options)) }
    },
    describe: ({ purged, erased, held }) =>
      `${purged} purged by a retention rule, ${erased} erased, ${held} kept although their buffer is over`,
    takesTime: true,
  },
  'integrate-log': {
    run: async (services, slug) => ({ ...(await services.log.takeIn(await tenantNamed(services, slug))) }),
    describe: ({ added, tree_size }) => `${added} seals taken into the log, which has ${tree_size} now`,
  },
  sweep: {
    run: async (services, slug) => ({ ...(await services.sweeper.sweep(await tenantNamed(services, slug))) }),
    describe: ({ checked, failed, inconsistent }) =>
      `${checked} records verified, ${failed} failed or missing, ${inconsistent} other things that do not agree`,
    hasFailed: ({ failed = 0, inconsistent = 0 }) => failed + inconsistent > 0,
  },
}

export function addJobsCommand(program: Command): void {
  program
    .command('jobs')
    .description('Background work, at once')
    .command('run')
    .description('Do a job now, and say what it did')
    .addArgument(new Argument('<job>', 'the job').choices(Object.keys(jobs)))
    .option('--tenant <slug>', 'only for this tenant')
    .option('--as-of <time>', 'hard-delete only, and not in production: as if it were that time (RFC 3339)')
    .option('--json', 'print one JSON object')
    .action((name: string, options: RunOptions) =>
      withServices(async (services) => {
        const job = jobs[name]!
        const time = timeOf(name, job, services, options)
        const tenants = []
        const lines: string[] = []
        for (const tenant of await chosenTenants(services, options.tenant)) {
          const done = await job.run(services, tenant, time)
          tenants.push({ tenant, ...done })
          lines.push(`Tenant ${tenant}: ${job.describe(done)}.`)
          if (job.hasFailed?.(done)) process.exitCode = exitFailure
        }
        printResult(options, { job: name, tenants }, lines.join('\n') || 'There are no tenants.')
      }),
    )
}

/** Throws StartupError where the option is not to be given, or is no time. */
function timeOf(name: string, job: Job, { config }: Services, { asOf }: RunOptions): { asOf?: string } {
  if (asOf === undefined) return {}
  if (!job.takesTime) {
    throw new StartupError(`The job ${name} does not take --as-of.`, 'Leave it out: it is for hard-delete alone.')
  }
  if (config.environment === 'production') {
    throw new StartupError(
      '--as-of is refused in production: it would erase what can still be restored.',
      'Leave it out: the job erases each record when its recovery buffer is over.',
    )
  }
  const time = parseTimestamp(asOf)
  if (time) return { asOf: time.text }
  throw new StartupError(
    `--as-of ${JSON.stringify(asOf)} is not an RFC 3339 timestamp.`,
    'Write it like 2026-04-14T00:00:00Z.',
  )
}
