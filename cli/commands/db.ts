import type { Command } from 'commander'
import { type DistributionStatus, readDistribution } from '../../server/db/distribution/distribution-status.ts'
import type { ExaminedDatabase } from '../doctor/examined-database.ts'
import { lineOf } from '../doctor/finding.ts'
import { counted, createProgressLine, exitFailure, type OutputOptions, printResult } from '../output.ts'

export function addDbCommand(program: Command): void {
  const group = program.command('db').description('The database and its distribution over several servers')
  group
    .command('status')
    .description('Show the size of the database, what is distributed, and what breaks a rule of distribution')
    .option('--json', 'print one JSON object')
    .action((options: OutputOptions) =>
      withSchema(async (database) => {
        const status = await database.read(readDistribution)
        printResult(options, status, statusText(status))
      }),
    )
  group
    .command('move')
    .description(
      'Move the embedded database of the data directory to the empty one of HUB_DATABASE_URL, while no Hub runs. ' +
        'All of it is moved, or nothing. The embedded one is kept under another name.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: OutputOptions) => {
      const { moveDatabase } = await import('../database/move-database.ts')
      const progress = createProgressLine()
      const moved = await moveDatabase(progress.show).finally(progress.end)
      const { tenants, rows, records, kept } = moved
      printResult(
        options,
        moved,
        [
          `${counted(records, 'record')} of ${counted(tenants.length, 'tenant')}, ${counted(rows, 'row')} in all, are in the database of HUB_DATABASE_URL.`,
          `The embedded database is now ${kept}. Remove it when the new one is backed up.`,
          'From now on start every Hub with HUB_DATABASE_URL. Everybody has to sign in again. Check the log: hub log audit',
        ].join('\n'),
      )
    })
  group
    .command('shorten-texts')
    .description(
      'Store the texts of telemetry events, earlier and new ones, in their short form, a sixth of the bytes. ' +
        'Run it when no process of an earlier version runs any more. A run that was interrupted is continued by the next.',
    )
    .option('--json', 'print one JSON object')
    .action((options: OutputOptions) =>
      withSchema(async (database) => {
        const { shortenTexts } = await import('../database/shorten-texts.ts')
        const progress = createProgressLine()
        const done = await database.change((owner) => shortenTexts(owner, progress.show)).finally(progress.end)
        const { shortened, kept } = done
        printResult(
          options,
          done,
          [
            `${counted(shortened, 'text')} of events are in short form now; ${counted(kept, 'event')} keep theirs in full.`,
            'PostgreSQL reuses the space for new records. To return it, run: vacuum full hub.records_y2026m10, for example.',
          ].join('\n'),
        )
      }),
    )
  group
    .command('distribute')
    .description(
      'Check what a distribution over the nodes of a Citus cluster needs, and name what is missing. ' +
        'This version distributes nothing yet, and changes nothing. Exit code 1: not distributed.',
    )
    .option('--json', 'print one JSON object')
    .action((options: OutputOptions) =>
      withSchema(async (database) => {
        const { findBlockers } = await import('../database/distribution-blockers.ts')
        const blockers = await findBlockers(database)
        const lines = ['Nothing was changed. The database cannot be distributed:', ...blockers.map(lineOf)]
        printResult(options, { distributed: false, blockers }, lines.join('\n'))
        process.exitCode = exitFailure
      }),
    )
}

async function withSchema(work: (database: ExaminedDatabase) => Promise<void>): Promise<void> {
  const loaded = await import('../database/with-schema.ts')
  await loaded.withSchema(work)
}

function statusText(status: DistributionStatus): string {
  const { citus, distributed_tables: done, tenant_tables: all } = status
  const server = `PostgreSQL ${status.postgresql}${citus === null ? ', without Citus' : `, Citus ${citus}`}`
  return [
    `Server       ${server}`,
    `Distributed  ${done === 0 ? `nothing: all ${all} tenant tables are on this server` : `${done} of ${all} tenant tables`}`,
    `Size         ${mebibytes(status.database_bytes)}`,
    ...status.largest.map(({ table, bytes }) => `  ${table.padEnd(32)} ${mebibytes(bytes).padStart(14)}`),
    ...status.nodes.map(
      ({ node, bytes, shards }) => `Node         ${node}: ${mebibytes(bytes)} in ${counted(shards, 'shard')}`,
    ),
    `Rules        ${status.breaches.length === 0 ? 'none is broken' : counted(status.breaches.length, 'breach', 'breaches')}`,
    ...status.breaches.map(({ rule, where, detail }) => `  rule ${String(rule).padStart(2)}  ${where}: ${detail}`),
  ].join('\n')
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MiB`
}
