import { resolve } from 'node:path'
import type { Command } from 'commander'
import { pino } from 'pino'
import { type Config, loadConfig } from '../../server/config.ts'
import type { RestoredBackup } from '../../server/db/backup/restore-backup.ts'
import { findMasterKey } from '../../server/db/master-key.ts'
import { createErasureJournal } from '../../server/modules/erasure/erasure-journal.ts'
import type { FollowedUp, Restore } from '../../server/modules/log/checkpoint-sinks/restored-tenants.ts'
import { StartupError } from '../../server/startup-error.ts'
import { checkStorage, openStorage } from '../../server/storage/open-storage.ts'
import { counted, example, type OutputOptions, printResult } from '../output.ts'
import { operator, tenantNamed, withServices } from '../services.ts'

interface RestoreOptions extends OutputOptions {
  reapplyErasures?: boolean
  withoutErasureList?: boolean
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description(
      'Load a backup into an empty database or a new data directory, and erase again what was erased after it was made. ' +
        'All of it is loaded, or nothing.',
    )
    .argument('[source]', 'the file that `hub backup` wrote')
    .option(
      '--reapply-erasures',
      'load nothing: for a database that was restored by other means, before the Hub is started on it',
    )
    .option('--without-erasure-list', 'load it although the storage has no list of what was erased')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('restore /var/backups/hub/hub-20260131T030000Z.tar.gz'))
    .action(async (source: string | undefined, options: RestoreOptions, command: Command) => {
      if ((source === undefined) === !options.reapplyErasures) {
        command.error('error: name either a backup or --reapply-erasures')
      }
      const restored = source === undefined ? undefined : await load(resolve(source), options)
      const tenants = await followUp({
        backup_created_at: restored?.created_at,
        backup_hub_version: restored?.hub_version,
      })
      printResult(options, answerOf(restored, tenants), describe(restored, tenants))
    })
}

async function load(file: string, options: RestoreOptions): Promise<RestoredBackup> {
  const config = loadConfig()
  const masterKey = await findMasterKey(config)
  if (masterKey === undefined) {
    throw new StartupError(
      'A backup can only be restored with the master key that it was made with. No master key was found.',
      `Set HUB_MASTER_KEY, or copy the file master.key of the Hub that made the backup into ${config.dataDir}.`,
    )
  }
  // Checks these before any change and any question.
  const { readBackupHead, restoreBackup } = await import('../../server/db/backup/restore-backup.ts')
  await readBackupHead(file, masterKey)
  await checkStorage(openStorage(config))
  const log = pino({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }, pino.destination(2))
  const { withOwnerAlone } = await import('../../server/db/open-owner.ts')
  return withOwnerAlone(config, masterKey, log, (owner) =>
    restoreBackup(owner, file, masterKey, {
      beforeCommit: async (restored) => {
        if (!options.withoutErasureList) await requireErasureList(config, restored)
      },
    }),
  )
}

/**
 * Requires an erasure journal in the storage. Each erasure is in the journal before it is in the database: without an
 * entry, this is not the storage of the Hub that made the backup.
 */
async function requireErasureList(config: Config, { tenants, tombstones }: RestoredBackup): Promise<void> {
  if (tombstones === 0) return
  const storage = openStorage(config)
  const list = createErasureJournal(storage)
  for (const tenant of tenants) for await (const _ of list.read(tenant)) return
  throw new StartupError(
    `The backup knows of ${counted(tombstones, 'erased record')}, but there is no list of erasures in ${storage.place}: what was erased after the backup would be back.`,
    'Set HUB_STORAGE_URL to the storage of the Hub that made the backup. If that is lost, use --without-erasure-list.',
  )
}

function followUp(restore: Restore): Promise<FollowedUp[]> {
  return withServices(async (services) => {
    const done: FollowedUp[] = []
    for (const slug of await services.directory.slugs()) {
      const tenant = await tenantNamed(services, slug)
      done.push(await services.restoredTenants.followUp(tenant, restore, operator))
    }
    return done
  }).catch((cause: unknown) => {
    if (restore.backup_created_at === undefined) throw cause
    throw new StartupError(
      `The backup is loaded, but what has to follow failed: ${(cause as Error).message}.`,
      'Do not start the Hub yet: run `hub restore --reapply-erasures` first.',
      { cause },
    )
  })
}

function answerOf(restored: RestoredBackup | undefined, tenants: readonly FollowedUp[]): object {
  return {
    ...(restored && {
      backup_created_at: restored.created_at,
      backup_hub_version: restored.hub_version,
      rows: restored.rows,
      records: restored.records,
    }),
    tenants,
  }
}

function describe(restored: RestoredBackup | undefined, tenants: readonly FollowedUp[]): string {
  const lines = tenants.flatMap(
    ({
      tenant,
      erased_again,
      holds_placed_again,
      holds_released_again,
      keys_destroyed_again = 0,
      checkpoints_put_aside,
    }) => [
      `Tenant ${tenant}: ${counted(erased_again, 'record')} erased again, ${counted(holds_placed_again, 'legal hold')} placed and ${holds_released_again} released again.`,
      ...(keys_destroyed_again === 0
        ? []
        : [
            `  ${counted(keys_destroyed_again, 'content key')} destroyed again: content encrypted with them cannot be recovered.`,
          ]),
      ...checkpoints_put_aside.map(
        ({ tree_size, file }) =>
          `  Its log was at ${counted(tree_size, 'entry', 'entries')} before and begins again from an earlier state; the checkpoints of then are now in ${file}.`,
      ),
    ],
  )
  if (restored === undefined) return lines.join('\n') || 'There are no tenants.'
  return [
    `${counted(restored.records, 'record')} of ${counted(restored.tenants.length, 'tenant')}, as of ${restored.created_at}.`,
    ...lines,
    'Everybody has to sign in again. Accounts that were disabled after the backup are enabled again: look at them before you start the Hub.',
    'If a web address keeps checkpoints (HUB_CHECKPOINT_SINK), tell its readers that the log was restored to an earlier state.',
  ].join('\n')
}
