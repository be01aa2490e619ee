import type { Command } from 'commander'
import { counted, type OutputOptions, printResult } from '../output.ts'
import { withServices } from '../services.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('Bring the database to the schema of this version; serving does it too')
    .option('--json', 'print one JSON object')
    .action((options: OutputOptions) =>
      // Starts the services, because opening the keys reveals a wrong master key here and not at the next start.
      withServices(async ({ migrationsApplied: applied }) => {
        const text =
          applied.length === 0
            ? 'The database is up to date.'
            : `Applied ${counted(applied.length, 'migration')}: ${applied.join(', ')}`
        printResult(options, { applied }, text)
      }),
    )
}
