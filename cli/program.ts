import { Command } from 'commander'
import { packageVersion } from '../server/config.ts'

/** The commands, in the order of the help, and the imports of their declarations. */
const declarations: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./commands/serve.ts')).addServeCommand,
  connector: async () => (await import('./commands/connector.ts')).addConnectorCommand,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  db: async () => (await import('./commands/db.ts')).addDbCommand,
  capacity: async () => (await import('./commands/capacity.ts')).addCapacityCommand,
  tenant: async () => (await import('./commands/tenant.ts')).addTenantCommand,
  'service-account': async () => (await import('./commands/service-account.ts')).addServiceAccountCommand,
  archetypes: async () => (await import('./commands/archetypes.ts')).addArchetypesCommand,
  rollups: async () => (await import('./commands/rollups.ts')).addRollupsCommand,
  prices: async () => (await import('./commands/prices.ts')).addPricesCommand,
  jobs: async () => (await import('./commands/jobs.ts')).addJobsCommand,
  keys: async () => (await import('./commands/keys.ts')).addKeysCommand,
  log: async () => (await import('./commands/log.ts')).addLogCommand,
  backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
  restore: async () => (await import('./commands/restore.ts')).addRestoreCommand,
  demo: async () => (await import('./commands/demo.ts')).addDemoCommand,
  telemetry: async () => (await import('./commands/telemetry.ts')).addTelemetryCommand,
  verify: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  mcp: async () => (await import('./commands/mcp.ts')).addMcpCommand,
  login: async () => (await import('./commands/login.ts')).addLoginCommand,
  logout: async () => (await import('./commands/login.ts')).addLogoutCommand,
  whoami: async () => (await import('./commands/login.ts')).addWhoamiCommand,
  records: async () => (await import('./commands/records.ts')).addRecordsCommand,
  search: async () => (await import('./commands/search.ts')).addSearchCommand,
  export: async () => (await import('./commands/export.ts')).addExportCommand,
  completion: async () => (await import('./commands/completion.ts')).addCompletionCommand,
}

/**
 * Declares the commands. Help, shell completion and docs/commands.md derive from them.
 *
 * @param name the command that will run: only its modules are loaded, since those of the whole service take two seconds
 *   of CPU time. All are if it is absent or no command, and for the completion, which lists them.
 */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command('hub')
    .description('Org-Memory Hub: organisational records with provenance, and telemetry of skill invocations')
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('Run it with --help to see what it takes.')
    .exitOverride()

  const isAlone = name !== undefined && name !== 'completion' && Object.hasOwn(declarations, name)
  const chosen = isAlone ? [declarations[name]!] : Object.values(declarations)
  for (const declare of await Promise.all(chosen.map((load) => load()))) declare(program)
  return program
}
