import type { Command } from 'commander'
import { counted, type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface RerateOptions extends OutputOptions {
  tenant: string
  from: string
  to?: string
}

export function addPricesCommand(program: Command): void {
  program
    .command('prices')
    .description('What telemetry costs')
    .command('rerate')
    .description('Compute the costs of stored events again, at current prices; ingest may continue')
    .requiredOption('--tenant <slug>', 'whose events')
    .requiredOption('--from <time>', 'from this `ts` on, RFC 3339')
    .option('--to <time>', 'before this `ts`; default: now')
    .option('--json', 'print one JSON object')
    .action((options: RerateOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const { from, to } = options
        const result = await services.rating.rate(
          tenant,
          { from, ...(to === undefined ? {} : { to }) },
          { actor: operator, cause: { command: 'prices rerate' } },
        )
        const { checked, changed, cost_usd_computed_before: before, cost_usd_computed_after: after } = result
        const text = `Tenant ${tenant.slug}: ${counted(checked, 'event')} checked, ${changed} changed; US$ ${before} before, US$ ${after} now.`
        printResult(options, result, text)
      }),
    )
}
