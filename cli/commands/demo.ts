import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { pino } from 'pino'
import { scopeNames } from '../../contract/scopes.ts'
import { loadDemo } from '../../demo/load-demo.ts'
import { type Config, loadConfig } from '../../server/config.ts'
import { StartupError } from '../../server/startup-error.ts'
import { demoReport, describeReport } from '../demo/report.ts'
import {
  connectTo,
  type DemoTarget,
  rejectOtherProgram,
  remoteTarget,
  requireOwnHub,
  requireRemoteHub,
  whatAnswersAt,
} from '../demo/target.ts'
import { createProgressLine, type OutputOptions, printResult } from '../output.ts'
import { addressOf, operator, type Services, withServices } from '../services.ts'

interface DemoOptions extends OutputOptions {
  tenant?: string
}

const demoTenant = 'demo'
/** Earlier versions used accounts of another name with fewer scopes. */
const accountName = 'Demo data loader'
const traceFile = new URL('../../demo/data/azure-llm-inference-conv-2023.csv', import.meta.url)

const introduction = `Loading 30 days of an invented company, Fernhill Outdoor. The token counts of the 19,366 invocations, their
order and their spacing within a quarter of an hour are recorded: the Azure LLM Inference Dataset 2023
(CC-BY 4.0), one hour laid over 30 days. Days, people, skills, models, failures, latencies, costs and
records are made up. The same end time always gives the same data.`

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Load 30 days of demo data into a tenant over HTTP, then read and verify it')
    .option('--tenant <slug>', `the tenant; ${demoTenant} by default, which is created if it is missing`)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Without a running Hub it starts one for the time of the load. A Hub with other settings needs the same here:
HUB_PORT, HUB_DATA_DIR. To load into a Hub elsewhere, set HUB_URL, HUB_TENANT, HUB_CLIENT_ID, HUB_CLIENT_SECRET.`,
    )
    .action(async (options: DemoOptions) => {
      const remote = remoteTarget(process.env, options.tenant)
      if (remote === undefined) return loadHere(options)
      await requireRemoteHub(remote)
      await load(options, remote, true)
    })
}

async function load(options: DemoOptions, target: DemoTarget, isRemote: boolean): Promise<void> {
  const hub = await connectTo(target, isRemote)
  process.stderr.write(`${introduction}\n\n`)
  const traceCsv = await readFile(traceFile, 'utf8')
  const progress = createProgressLine()
  const summary = await loadDemo(hub, { traceCsv, onProgress: progress.show })
  progress.end()
  const report = await demoReport(hub, target, summary)
  printResult(options, report, describeReport(report, isRemote ? undefined : withSettings))
}

/** Loads into the Hub of this data directory: the running one, or a temporary one. */
async function loadHere(options: DemoOptions): Promise<void> {
  const config = loadConfig()
  const baseUrl = addressOf(config)
  const answering = await whatAnswersAt(baseUrl)
  if (answering === 'other') rejectOtherProgram(baseUrl)
  if (answering === 'hub') await requireOwnHub(config, baseUrl)
  if (answering === 'none') {
    process.stderr.write(
      `No Hub answers at ${baseUrl}, so one runs for the time of the load. A Hub with other settings needs the same here: HUB_PORT, HUB_DATA_DIR (now ${config.dataDir}).\n\n`,
    )
  }
  const account = await withServices((services) => prepare(services, options))
  const target = { tenant: account.tenant, clientId: account.client_id, clientSecret: account.client_secret }
  if (answering === 'hub') return load(options, { ...target, baseUrl, isTemporary: false }, false)
  await withTemporaryHub(config, (address) => load(options, { ...target, baseUrl: address, isTemporary: true }, false))
}

async function prepare({ administration, directory, serviceAccounts, config }: Services, options: DemoOptions) {
  if (options.tenant === undefined && config.environment === 'production') {
    throw new StartupError(
      'In production the demo does not choose a tenant by itself, because its records are made up.',
      'Name a tenant with --tenant, best one that was created for the demo.',
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
  return (
    (await serviceAccounts.rotateSecret(tenant, accountName, operator)) ??
    (await serviceAccounts.create(tenant, { name: accountName, scopes: scopeNames }, operator))
  )
}

async function withTemporaryHub(config: Config, work: (address: string) => Promise<void>): Promise<void> {
  // Loaded only here: a running Hub makes it unnecessary.
  const { startHub } = await import('../../server/main.ts')
  const hub = await startHub({ ...config, workers: 1, port: 0, baseUrlConfigured: false }, pino({ level: 'silent' }))
  try {
    await work(hub.config.baseUrl)
  } finally {
    await hub.stop()
  }
}

/** Returns the command with the settings of this one that a Hub on the same data needs. */
function withSettings(command: string): string {
  const names = ['HUB_DATA_DIR', 'HUB_PORT'] as const
  const settings = names.flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : []))
  return [...settings, command].join(' ')
}
