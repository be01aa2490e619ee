import { Command, CommanderError } from 'commander'
import { packageVersion } from '../server/config.ts'
import { addArchetypesCommand } from './commands/archetypes.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addConnectorCommand } from './commands/connector.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addJobsCommand } from './commands/jobs.ts'
import { addKeysCommand } from './commands/keys.ts'
import { addLogCommand } from './commands/log.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addPricesCommand } from './commands/prices.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addRollupsCommand } from './commands/rollups.ts'
import { addServeCommand } from './commands/serve.ts'
import { addServiceAccountCommand } from './commands/service-account.ts'
import { addTelemetryCommand } from './commands/telemetry.ts'
import { addTenantCommand } from './commands/tenant.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { describeError, exitFailure, exitUsage } from './output.ts'

const program = new Command('hub')
  .description('Org-Memory Hub: organisational records with provenance, and telemetry of skill invocations')
  .version(packageVersion(), '-V, --version', 'print the version')
  .showHelpAfterError('Run it with --help to see what it takes.')
  .exitOverride()

addServeCommand(program)
addConnectorCommand(program)
addMigrateCommand(program)
addDoctorCommand(program)
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

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed its message or the requested help.
    process.exitCode = error.exitCode === 0 ? 0 : exitUsage
  } else {
    process.stderr.write(`hub: ${describeError(error)}\n`)
    if (process.env.HUB_LOG_LEVEL === 'debug' || process.env.HUB_LOG_LEVEL === 'trace') console.error(error)
    process.exitCode = exitFailure
  }
}
