import { type Command, Option } from 'commander'
import { StartupError } from '../../server/startup-error.ts'
import { sessionTarget } from '../hub-connection.ts'
import { type EventDefaults, eventSources } from '../import/event-sources.ts'
import { type ImportResult, importFile } from '../import/import-file.ts'
import { counted, createProgressLine, example, type OutputOptions, printResult } from '../output.ts'
import { InconclusiveError } from '../verify/inconclusive-error.ts'
import { addTelemetrySummary } from './telemetry-summary.ts'

interface ImportCommandOptions extends OutputOptions, EventDefaults {
  from: string
  uncertain?: 'stored' | 'missing'
}

export function addTelemetryCommand(program: Command): void {
  const telemetry = program.command('telemetry').description('Work with telemetry events')
  addTelemetrySummary(telemetry)
  telemetry
    .command('import <file>')
    .description(
      'Import telemetry from a file: JSON lines, CSV with a header, or one JSON document; also .gz. ' +
        'An interrupted import continues with the same command, and stores nothing twice. Its progress is in ' +
        'FILE.import.json; rejected rows go to FILE.rejected.jsonl with their reasons. ' +
        'Needs the scope telemetry:write, of a service account or of hub login --scope.',
    )
    .addOption(
      new Option('--from <format>', 'the format of the file').choices(Object.keys(eventSources)).default('events'),
    )
    .option('--skill <id>', 'the skill of rows that name none')
    .option('--skill-version <version>', 'the version of the skill of rows that name none; default: 0.0.0')
    .option('--archetype <id>', 'the archetype of rows that name none')
    .option('--user <id>', 'the user of rows that name none, as user:<email>')
    .option('--platform <platform>', 'the platform of rows that name none')
    .option('--envelope-only', 'leave out metadata, as a tenant of Mode C requires')
    .addOption(
      new Option(
        '--uncertain <decision>',
        'for events that were sent more than a day ago without an answer: take them as stored, or send them again',
      ).choices(['stored', 'missing']),
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      example('telemetry import usage.jsonl --from litellm-spend-logs --skill chat --archetype staff'),
    )
    .action(runImport)
}

async function runImport(file: string, { json, from, uncertain, ...defaults }: ImportCommandOptions): Promise<void> {
  const target = await sessionTarget()
  const progress = createProgressLine()
  let shownPart = -1
  try {
    const result = await importFile(file, target, { from, uncertain, defaults }, (part, { stored, rejected }) => {
      // A log gets ten lines, and a terminal one that changes.
      const tenth = Math.floor(10 * (part ?? 0))
      if (json || (!process.stderr.isTTY && tenth === shownPart)) return
      shownPart = tenth
      const step = `${counted(stored, 'event')} stored, ${rejected.toLocaleString('en-US')} rejected`
      progress.show({ step, done: part ?? 0, total: part === undefined ? 0 : 1 })
    })
    if (!json) progress.end()
    const { rejected, rejected_file } = result
    const reasons = rejected_file === null ? '' : `\n${counted(rejected, 'row')} rejected: see ${rejected_file}`
    printResult({ json: json ?? false }, result, `${describeStored(result)}${reasons}`)
  } catch (error) {
    if (error instanceof InconclusiveError) throw new StartupError(error.message, error.fix, { cause: error })
    throw error
  }
}

/** Returns a sentence that tells the events of this run from those of earlier runs with the same file. */
function describeStored({ stored, stored_now: now }: ImportResult): string {
  const before = stored - now
  if (before === 0) return `${counted(now, 'event')} stored.`
  if (now === 0) return `Nothing new was stored: earlier runs stored ${counted(before, 'event')} of this file.`
  return `${counted(now, 'event')} stored, after ${counted(before, 'event')} of this file in earlier runs.`
}
