import type { Command } from 'commander'
import { counted } from '../counted.ts'
import { type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, withServices } from '../services.ts'

interface RebuildOptions extends OutputOptions {
  tenant?: string
}

/** What a rebuild did for a tenant, in the names of the output. */
interface TenantRebuilt {
  tenant: string
  events: number
  unreadable: number
  deltas: number
  rows: number
  days: number
}

export function addRollupsCommand(program: Command): void {
  program
    .command('rollups')
    .description('The sums behind the summary of telemetry')
    .command('rebuild')
    .description('Reckon them anew from the stored records; ingest may go on meanwhile')
    .option('--tenant <slug>', 'only this tenant')
    .option('--json', 'print one JSON object')
    .action((options: RebuildOptions) =>
      withServices(async (services) => {
        const tenants: TenantRebuilt[] = []
        for (const tenant of await chosenTenants(services, options.tenant)) {
          tenants.push({ tenant, ...(await services.rollups.rebuild(tenant)) })
        }
        printResult(options, { tenants }, tenants.map(asText).join('\n') || 'There are no tenants.')
      }),
    )
}

function asText({ tenant, events, unreadable, deltas, rows, days }: TenantRebuilt): string {
  const done = `Tenant ${tenant}: ${counted(events, 'event')} read, ${counted(deltas, 'delta')} made up for, ${counted(rows, 'row')} written, ${counted(days, 'day')} closed.`
  if (unreadable === 0) return done
  return `${done}\n  ${counted(unreadable, 'record')} could not be read and ${unreadable === 1 ? 'is' : 'are'} missing from the sums: verify ${unreadable === 1 ? 'it' : 'them'} (see the log).`
}
