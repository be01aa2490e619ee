import { resolve } from 'node:path'
import type { Command } from 'commander'
import { packageVersion } from '../../server/config.ts'
import { writeBackup } from '../../server/db/backup/write-backup.ts'
import { backupSpace } from '../../server/storage/disk-space.ts'
import { counted, example, type OutputOptions, printResult } from '../output.ts'
import { withDatabase } from '../services.ts'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description(
      'Save a consistent snapshot of the whole database in one file, with or without a running server. ' +
        'Not in it: the master key, the files of HUB_STORAGE_URL, and sessions.',
    )
    .argument('<destination>', 'a file that is not there yet, or a directory to put one in')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('backup /var/backups/hub/'))
    .action((destination: string, options: OutputOptions) =>
      withDatabase(async ({ database, config }) => {
        await backupSpace(resolve(destination), config).requireRoom()
        const written = await writeBackup({
          owner: database.connection.owner,
          masterKey: database.masterKey,
          hubVersion: packageVersion(),
          destination: resolve(destination),
        })
        const { file, bytes, created_at, tenants, records } = written
        printResult(
          options,
          written,
          [
            `${file}: ${counted(records, 'record')} of ${counted(tenants, 'tenant')} as of ${created_at}, ${counted(bytes, 'byte')}.`,
            'It can only be restored with the master key of this Hub, and contains unencrypted content: store both safely and separately.',
          ].join('\n'),
        )
      }),
    )
}
