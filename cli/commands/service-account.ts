import type { Command } from 'commander'
import { type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface CreateOptions extends OutputOptions {
  tenant: string
  name: string
  scope: string
}

export function addServiceAccountCommand(program: Command): void {
  program
    .command('service-account')
    .description('Make credentials for programs')
    .command('create')
    .description('Make a service account; its secret is shown this once')
    .requiredOption('--tenant <slug>', 'the tenant it belongs to')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--scope <scopes>', 'what it may do: scopes, separated by spaces')
    .option('--json', 'print one JSON object')
    .action((options: CreateOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const scopes = options.scope.split(/[\s,]+/).filter((scope) => scope !== '')
        const made = await services.serviceAccounts.create(tenant, { name: options.name, scopes }, operator)
        const text = [
          `Service account ${made.name} of tenant ${made.tenant}, with ${made.scopes.join(' ')}`,
          `  client id      ${made.client_id}`,
          `  client secret  ${made.client_secret}`,
          'The secret is not shown again. Get a token with:',
          `  curl -u ${made.client_id}:${made.client_secret} -d grant_type=client_credentials \\`,
          `    ${tenant.baseUrl}/api/v1/oauth/token`,
        ].join('\n')
        printResult(options, made, text)
      }),
    )
}
