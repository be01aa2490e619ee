import type { Command } from 'commander'
import { pageSizeMax } from '../../contract/limits.ts'
import type { ServiceAccount } from '../../server/modules/auth/service-accounts/service-accounts-types.ts'
import { example, type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface AccountOptions extends OutputOptions {
  tenant: string
}

interface CreateOptions extends AccountOptions {
  name: string
  scope: string
  expiresAt?: string
  allowAddress?: string[]
}

export function addServiceAccountCommand(program: Command): void {
  const accounts = program.command('service-account').description('Credentials for programs')
  addCreate(accounts)
  addList(accounts)
  addRotateSecret(accounts)
  addDisable(accounts)
}

function addCreate(accounts: Command): void {
  accounts
    .command('create')
    .description('Create a service account and print the secret once')
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
          `  printf 'user = "%s"' ${made.client_id}:${made.client_secret} \\`,
          `    | curl --config - -d grant_type=client_credentials ${tenant.baseUrl}/api/v1/oauth/token`,
        ].join('\n')
        printResult(options, made, text)
      }),
    )
}

function addList(accounts: Command): void {
  accounts
    .command('list')
    .description('List the service accounts of a tenant, the oldest first; secrets are never shown')
    .requiredOption('--tenant <slug>', 'the tenant they belong to')
    .option('--json', 'print one JSON object')
    .action((options: AccountOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const items: ServiceAccount[] = []
        let cursor: string | undefined
        do {
          const page = await services.serviceAccounts.list(tenant, { limit: pageSizeMax, cursor })
          items.push(...page.items)
          cursor = page.next_cursor ?? undefined
        } while (cursor !== undefined)
        const text = items.map(lineOf).join('\n') || `Tenant ${tenant.slug} has no service accounts.`
        printResult(options, { tenant: tenant.slug, items }, text)
      }),
    )
}

function addRotateSecret(accounts: Command): void {
  accounts
    .command('rotate-secret')
    .description('Give a service account a further secret; it is shown this once')
    .argument('<client-id>', 'the account, as `service-account list` names it')
    .requiredOption('--tenant <slug>', 'the tenant it belongs to')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('service-account rotate-secret saJ4kQ8ZrT2vYw0LxNp6BdHs9A --tenant acme'))
    .action((clientId: string, options: AccountOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const rotated = await services.serviceAccounts.rotate(tenant, clientId, operator)
        const text = [
          `A new secret of service account ${clientId}:`,
          `  client secret  ${rotated.client_secret}`,
          `It is not shown again. The previous secret is valid until ${rotated.previous_secret_expires_at}; older secrets have expired.`,
        ].join('\n')
        printResult(options, rotated, text)
      }),
    )
}

function addDisable(accounts: Command): void {
  accounts
    .command('disable')
    .description('Disable a service account for good; its tokens end within 5 seconds')
    .argument('<client-id>', 'the account, as `service-account list` names it')
    .requiredOption('--tenant <slug>', 'the tenant it belongs to')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('service-account disable saJ4kQ8ZrT2vYw0LxNp6BdHs9A --tenant acme'))
    .action((clientId: string, options: AccountOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const disabled = await services.serviceAccounts.disable(tenant, clientId, operator)
        printResult(options, disabled, `Service account ${disabled.name} (${clientId}) is disabled, for good.`)
      }),
    )
}

function lineOf(account: ServiceAccount): string {
  const state = account.disabled_at ? `disabled ${account.disabled_at}` : account.scopes.join(' ')
  const used = account.last_used_at ? `last used ${account.last_used_at}` : 'never used'
  return `${account.client_id}  ${account.name}  ${state}  (${used})`
}
