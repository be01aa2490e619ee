import type { Command } from 'commander'
import { counted, type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface SetOptions extends OutputOptions {
  tenant: string
}

export function addArchetypesCommand(program: Command): void {
  program
    .command('archetypes')
    .description('The archetypes that telemetry of a tenant may name')
    .command('set')
    .description('Replace the archetype bundle of a tenant')
    .argument('<id...>', 'every archetype id of the bundle')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'print one JSON object')
    .action((ids: string[], options: SetOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const given = ids.map((id) => ({ archetype_id: id }))
        const archetypes = await services.archetypes.replace(tenant, given, operator)
        printResult(
          options,
          { tenant: tenant.slug, archetypes },
          `Tenant ${tenant.slug} has ${counted(archetypes.length, 'archetype')} now.`,
        )
      }),
    )
}
