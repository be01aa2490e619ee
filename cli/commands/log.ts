import { access } from 'node:fs/promises'
import type { Command } from 'commander'
import type { LogAuditResult } from '../../server/modules/log/audit/audit-types.ts'
import { type CheckpointSource, openCheckpointSource } from '../../server/modules/log/audit/checkpoint-source.ts'
import type { LostLog } from '../../server/modules/log/log-types.ts'
import { counted, describeError, example, exitFailure, type OutputOptions, printResult } from '../output.ts'
import { chosenTenants, operator, type Services, tenantNamed, withServices } from '../services.ts'

interface AuditOptions extends OutputOptions {
  tenant?: string
  against?: string
}

/** The exit code if the log could not be checked. */
const exitUnchecked = 2

interface AgainstResult {
  file: string
  checkpoints: number
  /** Number of lines that are not a checkpoint. */
  unreadable: number
  /** Checkpoints of logs that no audited tenant has, by the name of the log. */
  others: { log_name: string; checkpoints: number }[]
}

export function addLogCommand(program: Command): void {
  const group = program.command('log').description('The logs of tenants')
  addRetire(group)
  group
    .command('audit')
    .description(
      'Verify a log from its records up: seals, tree, signatures, and that it continues every stored checkpoint. ' +
        'Exit code 0: all is good, 1: something is not, 2: it could not be checked.',
    )
    .option('--tenant <slug>', 'only of this tenant')
    .option(
      '--against <file>',
      'a file of kept checkpoints, a signed note, or a saved answer of the API; default: what HUB_CHECKPOINT_SINK kept',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('log audit --tenant acme --against kept-checkpoint.txt'))
    .action(async (options: AuditOptions) => {
      try {
        process.exitCode = await withServices((services) => audit(services, options))
      } catch (error) {
        process.stderr.write(`hub: ${describeError(error)}\n`)
        process.exitCode = exitUnchecked
      }
    })
}

async function audit(services: Services, options: AuditOptions): Promise<number> {
  const given = options.against === undefined ? undefined : await openCheckpointSource(options.against)
  const results: LogAuditResult[] = []
  const logNames = new Set<string>()
  for (const slug of await chosenTenants(services, options.tenant)) {
    const tenant = await tenantNamed(services, slug)
    logNames.add(tenant.logName)
    const sources = given ? [given] : await keptSources(services, tenant.logName)
    results.push(await services.logAudit.audit(tenant, sources))
  }
  const against = given && (await countIn(given, logNames))
  const all = await services.checkpoints.lostLogs()
  const lost = options.tenant === undefined ? all : all.filter(({ log_name }) => logNames.has(log_name))
  const verified =
    results.every((result) => result.verified) && (against?.others.length ?? 0) === 0 && lost.length === 0
  const lines = [...results.map(describe), ...lost.map(describeLost), ...(against ? describeAgainst(against) : [])]
  printResult(
    options,
    { verified, tenants: results, ...(lost.length > 0 && { lost }), ...(against && { against }) },
    lines.join('\n') || 'There are no tenants, so there is nothing to audit.',
  )
  return verified ? 0 : exitFailure
}

function describeLost({ log_name, problem }: LostLog): string {
  if (problem === 'no_file') return `FAILED: the stored checkpoints of ${log_name} are missing.`
  return problem === 'no_tenant'
    ? `FAILED: ${log_name} has stored checkpoints but no tenant: the tenant was removed from the database.`
    : `FAILED: ${log_name} has stored checkpoints, but the rows of its tenant were removed from the database.`
}

interface RetireOptions extends OutputOptions {
  tenant: string
  reason: string
}

function addRetire(group: Command): void {
  group
    .command('retire')
    .description('Sign that the log of a tenant has ended, before the tenant is removed from the database')
    .requiredOption('--tenant <slug>', 'the tenant, which should be suspended')
    .requiredOption('--reason <text>', 'why; stored for later audits')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('log retire --tenant acme --reason "contract ended"'))
    .action((options: RetireOptions) =>
      withServices(async (services) => {
        const tenant = await tenantNamed(services, options.tenant)
        const retired = await services.logRetirement.retire(tenant, options.reason, operator)
        const { log_name, tree_size } = retired
        printResult(
          options,
          retired,
          `${log_name} has ended with ${counted(tree_size, 'entry', 'entries')}. The statement is with its checkpoints.`,
        )
      }),
    )
}

async function keptSources({ checkpoints }: Services, logName: string): Promise<CheckpointSource[]> {
  const sources: CheckpointSource[] = []
  for (const file of checkpoints.filesOf(logName)) {
    const isThere = await access(file).then(
      () => true,
      () => false,
    )
    if (isThere) sources.push(await openCheckpointSource(file))
  }
  return sources
}

async function countIn(source: CheckpointSource, logNames: ReadonlySet<string>): Promise<AgainstResult> {
  const others = new Map<string, number>()
  let checkpoints = 0
  let unreadable = 0
  const count = () => {
    unreadable += 1
  }
  for await (const { logName } of source.read(count)) {
    checkpoints += 1
    if (!logNames.has(logName)) others.set(logName, (others.get(logName) ?? 0) + 1)
  }
  return {
    file: source.file,
    checkpoints,
    unreadable,
    others: [...others].map(([log_name, number]) => ({ log_name, checkpoints: number })),
  }
}

function describe(result: LogAuditResult): string {
  const { tenant, verified, tree_size, seals, records, erased, checkpoints, failed, failures } = result
  const lines = [
    `Tenant ${tenant}: ${verified ? 'good' : 'FAILED'}. ${counted(tree_size, 'entry', 'entries')}, ${counted(seals, 'seal')} and ${counted(records, 'record')} verified, ${erased} erased, compared with ${counted(checkpoints, 'checkpoint')}.`,
    ...failures.map(({ at, reason }) => `  ${at}: ${reason}`),
  ]
  if (failed > failures.length) lines.push(`  and ${failed - failures.length} more`)
  return lines.join('\n')
}

function describeAgainst({ file, unreadable, others }: AgainstResult): string[] {
  return [
    ...others.map(
      (other) =>
        `FAILED: ${counted(other.checkpoints, 'checkpoint')} in ${file} of ${other.log_name}, which is another log.`,
    ),
    ...(unreadable > 0
      ? [
          `${counted(unreadable, 'line')} of ${file} could not be read and ${unreadable === 1 ? 'was' : 'were'} passed over.`,
        ]
      : []),
  ]
}
