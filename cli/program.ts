import { Command } from 'commander'
import { packageVersion } from '../server/config.ts'
import { addArchetypesCommand } from './commands/archetypes.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addCapacityCommand } from './commands/capacity.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addConnectorCommand } from './commands/connector.ts'
import { addDbCommand } from './commands/db.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { addJobsCommand } from './commands/jobs.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addLogCommand } from './commands/log.ts'
import { addLoginCommand, addLogoutCommand, addWhoamiCommand } from './commands/login.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addPricesCommand } from './commands/prices.ts'
import { addRecordsCommand } from './commands/records.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addRollupsCommand } from './commands/rollups.ts'
import { addSearchCommand } from './commands/search.ts'
import { addServeCommand } from './commands/serve.ts'
import { addServiceAccountCommand } from './commands/service-account.ts'
import { addTelemetryCommand } from './commands/telemetry.ts'
import { addTenantCommand } from './commands/tenant.ts'
import { addVerifyCommand } from './commands/verify.ts'

/** Declares all commands. Help, shell completion and docs/commands.md derive from them. */
export function createProgram(): Command {
  const program = new Command('hub')
    .description('Org-Memory Hub: organisational records with provenance, and telemetry of skill invocations')
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('Run it with --help to see what it takes.')
    .exitOverride()

  addServeCommand(program)
  addConnectorCommand(program)
  addMigrateCommand(program)
  addDoctorCommand(program)
  addDbCommand(program)
  addCapacityCommand(program)
  addTenantCommand(program)
  addServiceAccountCommand(program)
  addArchetypesCommand(program)
  addRollupsCommand(program)
  addPricesCommand(program)
  addJobsCommand(program)
  addKeysCommand(program)
  addLogCommand(program)
  addBackupCommand(program)
  addRestoreCommand(program)
  addDemoCommand(program)
  addTelemetryCommand(program)
  addVerifyCommand(program)
  addMcpCommand(program)
  addLoginCommand(program)
  addLogoutCommand(program)
  addWhoamiCommand(program)
  addRecordsCommand(program)
  addSearchCommand(program)
  addExportCommand(program)
  addCompletionCommand(program)
  return program
}
