import type { Command } from 'commander'
import { AggregateLossError } from '../../server/modules/telemetry/rollups/rollup-rebuild.ts'
import { counted, exitFailure, type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, operator, type Services, tenantNamed, withServices } from '../services.ts'

interface RebuildOptions extends OutputOptions {
  tenant?: string
  lose?: boolean
  accept?: boolean
}

/** The result of a rebuild for a tenant, by the names of the output. */
interface TenantRebuilt {
  tenant: string
  events: number
  unreadable: number
  erased: number
  deltas: number
  rows: number
  days: number
  /** Rows that were taken on trust. */
  accepted?: { ratings: number; erased_figures: number }
}

/** A tenant whose aggregates stay unchanged. */
interface SkippedTenant {
  tenant: string
  kept: 'content-destroyed'
}

export function addRollupsCommand(program: Command): void {
  program
    .command('rollups')
    .description('The sums behind the summary of telemetry')
    .command('rebuild')
    .description('Rebuild from stored records; ingest may continue')
    .option('--tenant <slug>', 'only this tenant')
    .option('--lose', 'also if the key of events was destroyed: their part of the sums is lost then')
    .option(
      '--accept',
      'take stored ratings and sums of erased events on trust, after somebody edited them; writes a governance event',
    )
    .option('--json', 'print one JSON object')
    .action((options: RebuildOptions) =>
      withServices(async (services) => {
        const tenants: (TenantRebuilt | SkippedTenant)[] = []
        for (const tenant of await chosenTenants(services, options.tenant)) {
          const accepted = options.accept ? await accept(services, tenant) : {}
          tenants.push({ ...(await rebuild(services, tenant, options.lose === true)), ...accepted })
        }
        printResult(options, { tenants }, tenants.map(asText).join('\n') || 'There are no tenants.')
        if (tenants.some((each) => 'kept' in each)) process.exitCode = exitFailure
      }),
    )
}

async function accept(services: Services, slug: string): Promise<Pick<TenantRebuilt, 'accepted'>> {
  const { ratings, erased } = await services.acceptAdjustments(await tenantNamed(services, slug), operator)
  return { accepted: { ratings, erased_figures: erased } }
}

async function rebuild(services: Services, tenant: string, mayLose: boolean): Promise<TenantRebuilt | SkippedTenant> {
  try {
    return { tenant, ...(await services.rollups.rebuild(tenant, { mayLose })) }
  } catch (error) {
    if (error instanceof AggregateLossError) return { tenant, kept: 'content-destroyed' }
    throw error
  }
}

function asText(done: TenantRebuilt | SkippedTenant): string {
  return 'kept' in done ? keptText(done) : rebuiltText(done)
}

function keptText({ tenant }: SkippedTenant): string {
  return (
    `Tenant ${tenant}: nothing changed. The key of its events was destroyed, so they can never be counted again, and ` +
    'a rebuild would lose what they have added to the sums.\n  To rebuild from the events that are left: add --lose.'
  )
}

function rebuiltText({ tenant, events, unreadable: all, erased, deltas, rows, days, accepted }: TenantRebuilt): string {
  const unreadable = all - erased
  const done = `Tenant ${tenant}: ${counted(events, 'event')} read, ${counted(deltas, 'delta')} made up for, ${counted(rows, 'row')} written, ${counted(days, 'day')} closed.${erased === 0 ? '' : ` ${counted(erased, 'event')} lost with the key.`}${accepted ? ` ${counted(accepted.ratings, 'rating')} and ${counted(accepted.erased_figures, 'row')} of erased events accepted.` : ''}`
  if (unreadable === 0) return done
  return `${done}\n  ${counted(unreadable, 'record')} could not be read and ${unreadable === 1 ? 'is' : 'are'} missing from the sums: verify ${unreadable === 1 ? 'it' : 'them'} (see the log).`
}
