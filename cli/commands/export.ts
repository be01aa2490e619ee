import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { ExportFilterBody } from '../../contract/export-filter.ts'
import { ExportFailed, type ExportJob, type HubClient } from '../../sdk/typescript/src/index.ts'
import { ExportBody } from '../../server/modules/exports/exports-schemas.ts'
import { fileProblem, StartupError } from '../../server/startup-error.ts'
import { openHub } from '../hub-connection.ts'
import { createProgressLine, example, exitFailure, type OutputOptions, printResult, UsageError } from '../output.ts'
import { addSchemaOptions } from '../query-options.ts'
import { terminalText } from '../terminal-text.ts'
import { reportText } from '../verify/report-text.ts'
import { verifyFile } from '../verify/verify-file.ts'

interface ExportOptions extends OutputOptions {
  output?: string
  job?: string
  keys?: string
  force?: boolean
  [member: string]: unknown
}

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description(
      'Export records to a file: starts an export, waits for it, downloads the file and its signed manifest, and ' +
        'verifies both as hub verify does. Exit code 1 if they do not verify.',
    )
    .addHelpText('after', example('export --record-type decision output --include-provenance --output decisions.jsonl'))
  const order = addSchemaOptions(command, ExportBody, ['filter'])
  const filter = addSchemaOptions(command, ExportFilterBody, ['tenant_id'])
  command
    .option('--output <file>', 'the file to write; default: the name that the Hub gives it')
    .option('--force', 'replace an existing file')
    .option('--job <id>', 'wait for an export that was started before, and download it')
    .option('--keys <file or url>', 'public keys to trust; default: those of the manifest (trust on first use)')
    .option('--json', 'print one JSON object')
    .action(async (options: ExportOptions) => {
      if (options.output !== undefined) await rejectExisting(options.output, options)
      const hub = await openHub()
      const body = { ...order.read(options), filter: filter.read(options) }
      const job = await completed(hub, options.job ?? (await hub.exports.start(body as object)).job_id, options)
      await save(hub, job, options)
    })
}

async function completed(hub: HubClient, jobId: string, { json }: OutputOptions): Promise<ExportJob> {
  // An interrupted command can go on with it.
  process.stderr.write(`Export ${terminalText(jobId)}\n`)
  const progress = createProgressLine()
  try {
    return await hub.exports.completed(jobId, {
      onProgress: ({ status, progress: { done, total } }) => {
        if (!json) progress.show({ step: terminalText(status), done, total })
      },
    })
  } catch (error) {
    if (!(error instanceof ExportFailed)) throw error
    const reason = error.job.error ? `: ${terminalText(error.job.error.detail)}` : ''
    throw new StartupError(
      `The export ${terminalText(jobId)} is ${terminalText(error.job.status)}${reason}.`,
      'Start another one.',
      {
        cause: error,
      },
    )
  } finally {
    if (!json) progress.end()
  }
}

async function save(hub: HubClient, job: ExportJob, options: ExportOptions): Promise<void> {
  const path = options.output ?? fileNameOf(job)
  await rejectExisting(path, options)
  await rejectExisting(`${path}.manifest.json`, options)
  await download(hub, job, path)
  // The manifest is downloaded like the file: its address is its own credential, too.
  if (job.manifest_url !== undefined) {
    await download(hub, { ...job, download_url: job.manifest_url }, `${path}.manifest.json`)
  }
  const verification = await verifyFile(path, options.keys === undefined ? {} : { keys: options.keys })
  const { report, trust, outcome } = verification
  const { verified, checked, failed, missing } = report
  printResult(
    options,
    { job_id: job.job_id, file: path, verified, checked, failed, missing, trust },
    reportText(verification),
  )
  if (outcome !== 'verified') process.exitCode = exitFailure
}

/** Downloads beside the place and renames then, so that a file of this name is complete. */
async function download(hub: HubClient, job: ExportJob, path: string): Promise<void> {
  // A name that nobody can guess, so that nobody can place a link or a file of theirs there.
  const partial = `${path}.${randomUUID()}.partial`
  try {
    const content = await hub.exports.download(job)
    await pipeline(Readable.fromWeb(content as never), createWriteStream(partial, { flags: 'wx', mode: 0o600 }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error
    throw new StartupError(
      `${path} cannot be written: ${fileProblem(error)}.`,
      `Correct that, and run: hub export --job ${job.job_id} --output FILE`,
      { cause: error },
    )
  }
}

/** Returns the last part of the address, which is a plain name. The Hub must not choose another folder. */
function fileNameOf({ download_url, job_id, format }: ExportJob): string {
  const name = basename(new URL(download_url ?? 'http://none/').pathname)
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(name) ? name : `${job_id}.${format}`
}

async function rejectExisting(path: string, { force }: ExportOptions): Promise<void> {
  if (force) return
  const isPresent = await access(path).then(
    () => true,
    () => false,
  )
  if (isPresent) throw new UsageError(`${path} exists.`, 'Choose another name with --output, or add --force.')
}
