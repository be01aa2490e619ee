import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { type RateClass, rateClasses } from '../../contract/limits.ts'
import { type TenantMode, tenantModes } from '../../contract/literals.ts'
import { toCreatedResponse } from '../../server/modules/tenants/tenant-response.ts'
import { counted, example, type OutputOptions, printResult } from '../output.ts'
import { operator, withServices } from '../services.ts'

interface CreateOptions extends OutputOptions {
  mode: TenantMode
  adminEmail: string
  baseUrl?: string
}

export function addTenantCommand(program: Command): void {
  const tenant = program.command('tenant').description('Make tenants and look after them')
  addCreate(tenant)
  addWelcomeLink(tenant)
  addLimits(tenant)
  addExportQuota(tenant)
}

function addCreate(tenant: Command): void {
  tenant
    .command('create')
    .description('Make a tenant with its keys, and a welcome link for its administrator')
    .argument('<slug>', 'its name in addresses and headers: lower-case letters, digits, hyphens')
    .addOption(new Option('--mode <mode>', 'deployment mode').choices(tenantModes).makeOptionMandatory())
    .requiredOption('--admin-email <address>', 'who gets the welcome link')
    .option('--base-url <url>', 'own address of a Mode C tenant')
    .option('--json', 'print one JSON object')
    .action((slug: string, options: CreateOptions) =>
      withServices(async ({ administration }) => {
        const { mode, adminEmail, baseUrl } = options
        const created = await administration.create({ slug, mode, adminEmail, baseUrl }, operator)
        const text = [
          `Created tenant ${slug} in Mode ${mode}.`,
          `Welcome link for ${adminEmail}, valid until ${created.welcome.expiresAt}:`,
          `  ${created.welcome.url}`,
          'Next, make a service account:',
          `  npm run hub -- service-account create --tenant ${slug} --name my-app --scope "hub:read hub:write telemetry:write"`,
        ].join('\n')
        printResult(options, toCreatedResponse(created), text)
      }),
    )
}

function addWelcomeLink(tenant: Command): void {
  tenant
    .command('welcome-link')
    .description('Make a fresh welcome link for the administrator of a tenant')
    .argument('<slug>', 'the tenant')
    .option('--json', 'print one JSON object')
    .action((slug: string, options: OutputOptions) =>
      withServices(async ({ administration }) => {
        const created = await administration.welcomeLink(slug, operator)
        const { url, expiresAt } = created.welcome
        printResult(
          options,
          toCreatedResponse(created),
          `Welcome link for ${created.adminEmail}, valid until ${expiresAt}:\n  ${url}`,
        )
      }),
    )
}

function addLimits(tenant: Command): void {
  tenant
    .command('limits')
    .description('Set the requests per minute of a tenant, for one class of operations')
    .argument('<slug>', 'the tenant')
    .addArgument(new Argument('<class>', `one of ${rateClasses.join(', ')}`).argParser(parseClass))
    .argument('<token>', 'requests per minute of one token', parseLimit)
    .argument('<tenant>', 'requests per minute of the whole tenant', parseLimit)
    .option('--json', 'print one JSON object')
    .action((slug: string, rateClass: RateClass, perToken: number, perTenant: number, options: OutputOptions) =>
      withServices(async ({ operated }) => {
        const limit = { per_token: perToken, per_tenant: perTenant }
        await operated.update(slug, { limits: { [rateClass]: limit } }, operator)
        printResult(
          options,
          { tenant: slug, class: rateClass, per_token: perToken, per_tenant: perTenant },
          `Tenant ${slug}, class ${rateClass}: ${counted(perToken, 'request')} per minute and token, ${perTenant.toLocaleString('en-US')} altogether.\n` +
            'A running service applies it within seconds.',
        )
      }),
    )
}

type Quota = number | 'default'

interface QuotaOptions extends OutputOptions {
  perDay?: Quota
  mbKept?: Quota
}

function addExportQuota(tenant: Command): void {
  tenant
    .command('export-quota')
    .description('Show or set how many exports a tenant may order within 24 hours, and what their files may have')
    .argument('<slug>', 'the tenant')
    .option('--per-day <number>', 'exports within 24 hours, or "default"', parseQuota)
    .option('--mb-kept <number>', 'MiB of all files that are kept, or "default"', parseQuota)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('tenant export-quota acme --per-day 50 --mb-kept default'))
    .action((slug: string, options: QuotaOptions) =>
      withServices(async ({ operated, config }) => {
        const wanted = {
          ...(options.perDay !== undefined && { exports_per_day: orNull(options.perDay) }),
          ...(options.mbKept !== undefined && { mb_kept: orNull(options.mbKept) }),
        }
        const { export_quota: own } = await operated.update(slug, { export_quota: wanted }, operator)
        const effective = { exports_per_day: config.exportsPerDay, mb_kept: config.exportMbKept, ...own }
        const note = (name: keyof typeof own) => (own[name] === undefined ? 'the default' : 'its own')
        const perDay = `${counted(effective.exports_per_day, 'export')} within 24 hours (${note('exports_per_day')})`
        const kept = `${effective.mb_kept.toLocaleString('en-US')} MiB of files (${note('mb_kept')})`
        printResult(options, { tenant: slug, ...effective, own }, `Tenant ${slug}: ${perDay}, ${kept}.`)
      }),
    )
}

/** Accepts underscores as hyphens: a class is easily mistaken for a scope or a field. */
function parseClass(text: string): RateClass {
  const name = rateClasses.find((one) => one === text.replaceAll('_', '-'))
  if (name) return name
  throw new InvalidArgumentError(`Use one of ${rateClasses.join(', ')}.`)
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a whole number of requests per minute, at least 1.')
}

function orNull(quota: Quota): number | null {
  return quota === 'default' ? null : quota
}

/** The service checks the bounds. */
function parseQuota(text: string): Quota {
  if (text === 'default') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a whole number, or "default".')
}
