import { Argument, type Command } from 'commander'
import { parseTimestamp } from '../../contract/timestamp.ts'
import { StartupError } from '../../server/startup-error.ts'
import { counted, example, exitFailure, type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, type Services, tenantNamed, withServices } from '../services.ts'

interface RunOptions extends OutputOptions {
  tenant?: string
  asOf?: string
}

interface Job {
  /** The text for the help. */
  summary: string
  /** Runs the job for one tenant. Returns counts by the names of the output. */
  run(services: Services, tenant: string, options: { asOf?: string }): Promise<Record<string, number>>
  /** True if the job accepts another time than now. */
  takesTime?: boolean
  describe(done: Record<string, number>): string
  /** Returns true if the counts show a problem; the command then ends with exit code 1. */
  hasFailed?(done: Record<string, number>): boolean
}

/** The jobs that the service also runs by itself. */
const jobs: Readonly<Record<string, Job>> = {
  'fold-rollups': {
    summary: 'adds new telemetry to the sums behind its summary, and closes days that are over',
    run: ({ rollups }, tenant) => rollups.settle(tenant),
    describe: ({ deltas = 0, days = 0 }) => `${counted(deltas, 'delta')} folded, ${counted(days, 'day')} closed`,
  },
  'hard-delete': {
    summary:
      'purges what a retention rule no longer keeps, and erases what was purged and has its recovery period behind it',
    run: async (services, slug, options) => {
      const tenant = await tenantNamed(services, slug)
      const purged = await services.erasure.purgeOverdue(tenant, options)
      return { purged, ...(await services.erasure.run(tenant, options)) }
    },
    describe: ({ purged = 0, erased = 0, held = 0 }) =>
      `${counted(purged, 'record')} purged by a retention rule, ${counted(erased, 'record')} erased, ${counted(held, 'record')} kept although the recovery period is over`,
    takesTime: true,
  },
  'integrate-log': {
    summary: 'appends waiting seals to the log, and signs a checkpoint',
    run: async (services, slug) => ({ ...(await services.log.integrate(await tenantNamed(services, slug))) }),
    describe: ({ added = 0, tree_size = 0 }) =>
      `${counted(added, 'seal')} taken into the log, which has ${tree_size.toLocaleString('en-US')} now`,
  },
  sweep: {
    summary: 'verifies every record and the log again and reports tampering; exits with code 1 if anything is wrong',
    run: async (services, slug) => ({ ...(await services.sweeper.sweep(await tenantNamed(services, slug))) }),
    describe: ({ checked = 0, failed = 0, inconsistent = 0 }) =>
      `${counted(checked, 'record')} verified, ${failed} failed or missing, ${counted(inconsistent, 'other thing that does not agree', 'other things that do not agree')}`,
    hasFailed: ({ failed = 0, inconsistent = 0 }) => failed + inconsistent > 0,
  },
}

export function addJobsCommand(program: Command): void {
  program
    .command('jobs')
    .description('Background work, at once')
    .command('run')
    .description('Run a job now and print its result')
    .addArgument(new Argument('<job>', 'the job').choices(Object.keys(jobs)))
    .option('--tenant <slug>', 'only for this tenant')
    .option('--as-of <time>', 'hard-delete only, and not in production: as if it were that time (RFC 3339)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `\nJobs, which the service does by itself, too:\n${jobLines()}\n${example('jobs run sweep --tenant acme')}`,
    )
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

function jobLines(): string {
  const width = Math.max(...Object.keys(jobs).map((name) => name.length))
  return Object.entries(jobs)
    .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
    .join('\n')
}

/** Throws StartupError if the job does not take the option, or its value is not a time. */
function timeOf(name: string, job: Job, { config }: Services, { asOf }: RunOptions): { asOf?: string } {
  if (asOf === undefined) return {}
  if (!job.takesTime) {
    throw new StartupError(`The job ${name} does not take --as-of.`, 'Leave it out: it is for hard-delete alone.')
  }
  if (config.environment === 'production') {
    throw new StartupError(
      '--as-of is refused in production: it would erase what can still be restored.',
      'Leave it out: the job erases each record when its recovery period is over.',
    )
  }
  const time = parseTimestamp(asOf)
  if (time) return { asOf: time.text }
  throw new StartupError(
    `--as-of ${JSON.stringify(asOf)} is not an RFC 3339 timestamp.`,
    'Write it like 2026-04-14T00:00:00Z.',
  )
}
