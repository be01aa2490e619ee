import type { Command } from 'commander'
import { type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface CreateOptions extends OutputOptions {
  tenant: string
  name: string
  scope: string
  expiresAt?: string
  allowAddress?: string[]
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
    .option('--expires-at <time>', 'from then on it gets no token, RFC 3339')
    .option('--allow-address <address...>', 'it may be used from these addresses and networks (CIDR) only')
    .option('--json', 'print one JSON object')
    .action((options: CreateOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const scopes = options.scope.split(/[\s,]+/).filter((scope) => scope !== '')
        const { expiresAt: expires_at, allowAddress: allowed_addresses } = options
        const account = { name: options.name, scopes, expires_at, allowed_addresses }
        const { created_at: _, ...made } = await services.serviceAccounts.create(tenant, account, operator)
        const text = [
          `Service account ${made.name} of tenant ${made.tenant}, with ${made.scopes.join(' ')}`,
          `  client id      ${made.client_id}`,
          `  client secret  ${made.client_secret}`,
          ...(made.expires_at ? [`  until          ${made.expires_at}`] : []),
          ...(made.allowed_addresses ? [`  only from      ${made.allowed_addresses.join(' ')}`] : []),
          'The secret is not shown again. Get a token with:',
          `  curl -u ${made.client_id}:${made.client_secret} -d grant_type=client_credentials \\`,
          `    ${tenant.baseUrl}/api/v1/oauth/token`,
        ].join('\n')
        printResult(options, made, text)
      }),
    )
}
