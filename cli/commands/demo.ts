import type { Command } from 'commander'
import { pino } from 'pino'
import { HubClient } from '../../sdk/hub-client.ts'
import type { Config } from '../../server/config.ts'
import type { ServiceAccountCredentials } from '../../server/modules/auth/auth-types.ts'
import { StartupError } from '../../server/startup-error.ts'
import { loadDemo } from '../demo/load.ts'
import { demoReport, describeReport } from '../demo/report.ts'
import { readTrace } from '../demo/trace.ts'
import { type OutputOptions, printResult } from '../output.ts'
import { operator, type Services, withServices } from '../services.ts'

interface DemoOptions extends OutputOptions {
  tenant?: string
}

const demoTenant = 'demo'
const accountName = 'demo loader'
const accountScopes = [
  'hub:read',
  'hub:write',
  'roster:read',
  'roster:write',
  'skill_entitlement:read',
  'skill_entitlement:write',
  'telemetry:read',
  'telemetry:write',
  'governance:read',
] as const

const introduction = `Replaying a real trace: 19,366 invocations of a language model, from the Azure LLM Inference
Dataset 2023 (CC-BY 4.0). Their spacing in time and their token counts are as recorded, moved to
end when the demo first ran. Skills, people, platforms, models, latencies and costs are made up
from the row number, the same in every run.`

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Fill a tenant with a real trace of 19,366 invocations over HTTP, then query and verify it')
    .option('--tenant <slug>', `the tenant; ${demoTenant}, which is made if need be, by default`)
    .option('--json', 'print one JSON object')
    .action(async (options: DemoOptions) => {
      const { account, config, baseUrl } = await withServices((services) => prepare(services, options))
      await withServer(config, baseUrl, async (address) => {
        const hub = new HubClient({
          baseUrl: address,
          tenant: account.tenant,
          clientId: account.client_id,
          clientSecret: account.client_secret,
        })
        process.stderr.write(`${introduction}\n\n`)
        const loaded = await loadDemo(hub, account.client_id, await readTrace(), showProgress)
        const report = await demoReport(hub, address, account, loaded)
        printResult(options, report, describeReport(report))
      })
    })
}

async function prepare(
  services: Services,
  options: DemoOptions,
): Promise<{ account: ServiceAccountCredentials; config: Config; baseUrl: string }> {
  const { administration, directory, serviceAccounts, config, baseUrl } = services
  if (options.tenant === undefined && config.environment === 'production') {
    throw new StartupError(
      'In production the demo does not choose a tenant by itself: what it writes are made-up records.',
      'Name the tenant with --tenant, best one that was made for it.',
    )
  }
  const slug = options.tenant ?? demoTenant
  const tenant =
    (await directory.find(slug)) ??
    (await administration.create({ slug, mode: 'A', adminEmail: `admin@${slug}.example` }, operator)).tenant
  if (tenant.mode !== 'A') {
    throw new StartupError(
      `Tenant ${slug} is of Mode ${tenant.mode}, and the demo writes content.`,
      'Choose a tenant of Mode A with --tenant.',
    )
  }
  const account =
    (await serviceAccounts.rotateSecret(tenant, accountName, operator)) ??
    (await serviceAccounts.create(tenant, { name: accountName, scopes: accountScopes }, operator))
  return { account, config, baseUrl }
}

/** Uses the server that runs, or runs one for as long as the work takes. */
async function withServer(config: Config, baseUrl: string, work: (address: string) => Promise<void>): Promise<void> {
  if (await answers(baseUrl)) return work(baseUrl)
  process.stderr.write('No Hub is running here, so one runs for as long as the demo takes.\n\n')
  // Loaded here only, because a running server makes it unnecessary.
  const { startHub } = await import('../../server/main.ts')
  const hub = await startHub({ ...config, port: 0, baseUrlConfigured: false }, pino({ level: 'silent' }))
  try {
    await work(hub.config.baseUrl)
  } finally {
    await hub.stop()
  }
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/v1/health`, { signal: AbortSignal.timeout(3000) })
    const body = (await response.json()) as { status?: string; version?: string }
    return response.ok && body.version !== undefined
  } catch {
    return false
  }
}

let shownAt = 0

/** On a terminal one line that moves, elsewhere a line for every quarter. Always on stderr. */
function showProgress(stored: number, total: number): void {
  const text = `  ${stored.toLocaleString('en')} of ${total.toLocaleString('en')} events stored`
  if (process.stderr.isTTY) {
    process.stderr.write(`\r${text}${stored === total ? '\n\n' : ''}`)
  } else if (stored === total || stored - shownAt >= total / 4) {
    shownAt = stored
    process.stderr.write(`${text}\n`)
  }
}
