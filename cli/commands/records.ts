import { open } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { pageSizeDefault, pageSizeMax, recordBodyBytesMax } from '../../contract/limits.ts'
import { patterns } from '../../contract/literals.ts'
import type { HubRecord, NewRecord } from '../../sdk/typescript/src/index.ts'
import { recordsQuery, relatedQuery } from '../../server/modules/records/records-schemas.ts'
import { fileProblem } from '../../server/startup-error.ts'
import { addPageOptions, collectPages, firstPage, moreText } from '../collect-pages.ts'
import { openHub } from '../hub-connection.ts'
import { counted, example, exitFailure, type OutputOptions, printResult, UsageError } from '../output.ts'
import { addSchemaOptions } from '../query-options.ts'
import { recordTable, recordText } from '../record-table.ts'
import { terminalLines } from '../terminal-text.ts'

type Options = OutputOptions & Record<string, unknown>
interface PageOptions {
  limit: number
  cursor?: string
}

export function addRecordsCommand(program: Command): void {
  const records = program.command('records').description('Read, write and verify records of a Hub')
  addQuery(records)
  addGet(records)
  addWrite(records)
  addVerify(records)
  addRelated(records)
}

function addQuery(records: Command): void {
  const command = records
    .command('query')
    .description('List records by filters')
    .addHelpText('after', example('records query --record-type decision --limit 20'))
  const filters = addSchemaOptions(command, recordsQuery, ['limit', 'cursor'])
  addPageOptions(command, pageSizeDefault)
    .option('--json', 'print one JSON object')
    .action(async (options: Options & PageOptions) => {
      const hub = await openHub()
      const query = filters.read(options)
      const { items, next_cursor, page } = await collectPages(
        (limit, cursor) => firstPage(hub.records.list({ ...query, limit, ...(cursor && { cursor }) })),
        (answer) => answer.records,
        { limit: options.limit, cursor: options.cursor, pageSize: pageSizeMax },
      )
      const { verification_summary: summary } = page
      const text = items.length === 0 ? 'No record matches.' : recordTable(items)
      const unverified = query.verify ? failedOf(items) : 0
      const verdict = summary ? `\n${counted(items.length - unverified, 'record')} verified, ${unverified} failed` : ''
      printResult(options, { records: items, next_cursor }, `${text}${verdict}${moreText(next_cursor)}`)
      if (unverified > 0) process.exitCode = exitFailure
    })
}

function addGet(records: Command): void {
  records
    .command('get <record-id>')
    .description('Show a record')
    .option('--verify', 'let the Hub verify it, too')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('records get 01a2053f-eb9a-7fbe-ac6f-1ae440664962'))
    .action(async (id: string, options: OutputOptions & { verify?: boolean }) => {
      const hub = await openHub()
      const record = await hub.records.get(recordId(id), options.verify ? { verify: true } : {})
      printResult(options, record, recordText(record))
      if (options.verify && failedOf([record]) > 0) process.exitCode = exitFailure
    })
}

function addWrite(records: Command): void {
  records
    .command('write [file]')
    .description('Write a record from a file with its JSON, or from stdin')
    .option('--idempotency-key <key>', 'write once, even if the command is repeated within 24 hours')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('records write decision.json'))
    .action(async (file: string | undefined, options: OutputOptions & { idempotencyKey?: string }) => {
      const record = await readRecord(file)
      const { idempotencyKey } = options
      const written = await (await openHub()).records.write(record, idempotencyKey ? { idempotencyKey } : {})
      printResult(options, written, terminalLines(`${written.record_id}\n${written.provenance_hash}`))
    })
}

function addVerify(records: Command): void {
  records
    .command('verify <record-id>')
    .description(
      'Let the Hub verify a record. Exit code 1 if a check fails. hub verify checks exports and proof bundles without the Hub',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('records verify 01a2053f-eb9a-7fbe-ac6f-1ae440664962'))
    .action(async (id: string, options: OutputOptions) => {
      const result = await (await openHub()).records.verify(recordId(id))
      const lines = Object.entries(result.checks).map(([name, isGood]) => `  ${isGood ? 'good' : 'FAILED'}: ${name}`)
      const title = `${id}: ${result.verified ? 'verified' : 'NOT verified'} by the Hub`
      printResult(options, result, terminalLines([title, ...lines].join('\n')))
      if (!result.verified) process.exitCode = exitFailure
    })
}

function addRelated(records: Command): void {
  const command = records
    .command('related <record-id>')
    .description('Show the records that a record links to, and those that link to it')
    .addHelpText('after', example('records related 01a2053f-eb9a-7fbe-ac6f-1ae440664962 --depth 2'))
  const query = addSchemaOptions(command, relatedQuery)
  command.addOption(new Option('--json', 'print one JSON object')).action(async (id: string, options: Options) => {
    const related = await (await openHub()).records.related(recordId(id), query.read(options))
    const links = `${counted(related.records.length, 'record')}, ${counted(related.edges.length, 'link')}`
    const more = related.truncated ? '. There are more within this depth than a response has.' : ''
    printResult(options, related, `${recordTable(related.records)}\n${links}${more}`)
  })
}

/** Returns the number of records that the Hub could not verify. */
function failedOf(records: readonly HubRecord[]): number {
  return records.filter((record) => {
    const { verification } = record as { verification?: { verified?: boolean } }
    return verification?.verified === false
  }).length
}

function recordId(text: string): string {
  if (new RegExp(patterns.uuid).test(text)) return text
  throw new UsageError('The id of a record is a UUID.', 'Find it with: hub records query')
}

/** Reads one JSON object from a file or stdin. Reads at most what the Hub accepts. */
async function readRecord(path: string | undefined): Promise<NewRecord> {
  const isStdin = path === undefined || path === '-'
  const place = isStdin ? 'stdin' : path
  const fix = 'Give one JSON object with record_type and the members of that type.'
  let text: string
  try {
    text = isStdin ? await readBounded(process.stdin) : await readFileBounded(path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${place} cannot be read: ${fileProblem(error)}.`, fix, { cause: error })
  }
  try {
    const record: unknown = JSON.parse(text)
    if (typeof record === 'object' && record !== null && !Array.isArray(record)) return record as NewRecord
  } catch (cause) {
    throw new UsageError(`${place} is not JSON: ${(cause as Error).message}.`, fix, { cause })
  }
  throw new UsageError(`${place} is not a JSON object.`, fix)
}

async function readFileBounded(path: string): Promise<string> {
  const file = await open(path)
  try {
    return await readBounded(file.createReadStream())
  } finally {
    await file.close()
  }
}

async function readBounded(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk))
    size += chunk.length
    if (size > recordBodyBytesMax) {
      throw new UsageError(
        `The record has more than ${recordBodyBytesMax} bytes.`,
        'Store large content elsewhere, and its address here.',
      )
    }
  }
  return Buffer.concat(chunks).toString()
}
