import { Argument, type Command } from 'commander'
import { type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, type Services, withServices } from '../services.ts'

interface RunOptions extends OutputOptions {
  tenant?: string
}

interface Job {
  /** Does it for one tenant, and answers what it did: counts, in the names of the output. */
  run(services: Services, tenant: string): Promise<Record<string, number>>
  describe(done: Record<string, number>): string
}

/** What the service does by itself sooner or later. */
const jobs: Readonly<Record<string, Job>> = {
  'fold-rollups': {
    run: ({ rollups }, tenant) => rollups.settle(tenant),
    describe: ({ deltas, days }) => `${deltas} deltas folded, ${days} days closed`,
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
    .option('--json', 'print one JSON object')
    .action((name: string, options: RunOptions) =>
      withServices(async (services) => {
        const job = jobs[name]!
        const tenants = []
        const lines: string[] = []
        for (const tenant of await chosenTenants(services, options.tenant)) {
          const done = await job.run(services, tenant)
          tenants.push({ tenant, ...done })
          lines.push(`Tenant ${tenant}: ${job.describe(done)}.`)
        }
        printResult(options, { job: name, tenants }, lines.join('\n') || 'There are no tenants.')
      }),
    )
}
