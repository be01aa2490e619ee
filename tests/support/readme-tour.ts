import { execFileSync, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freshDataDirectory, removeDataDirectories } from './data-directory.ts'
import { startHubProcess } from './hub-process.ts'
import { scaled } from './machine-speed.ts'

const root = resolve(import.meta.dirname, '../..')
const documentedUrl = 'http://127.0.0.1:8080'
const separator = '\u001e'
const block = /```sh\n([\s\S]*?)```(?:\n\n(```(?:text|json)\n)([\s\S]*?)```)?/g

/** Pages with commands that a newcomer pastes: every `sh` block runs against a Hub. Pages of one list share a shell. */
export const tours: readonly (readonly string[])[] = [
  ['README.md'],
  ['docs/tour.md', 'docs/tour-read.md', 'docs/tour-audit.md'],
]

/** Commands of a page and their documented output. The output is empty if no output block follows. */
export interface TourStep {
  page: string
  commands: string
  output: string
}

/** Returns the steps of pages, in their order. */
export async function readSteps(pages: readonly string[]): Promise<TourStep[]> {
  const texts = await Promise.all(pages.map(async (page) => ({ page, text: await readFile(join(root, page), 'utf8') })))
  return texts.flatMap(({ page, text }) =>
    [...text.matchAll(block)].map(([, commands = '', , output = '']) => ({ page, commands, output: output.trim() })),
  )
}

/** Runs the stand-in for machines without curl. */
export const curlStandIn = `'${process.execPath}' '${join(import.meta.dirname, 'curl.ts')}'`

/** Returns the path of the installed curl, or undefined. */
export function installedCurl(): string | undefined {
  try {
    return execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/**
 * Runs each tour in its own bash against one new Hub. Returns the outputs of each tour, with the documented address.
 * Uses the installed curl, or the stand-in if there is none.
 */
export async function runSteps(tours: readonly TourStep[][]): Promise<string[][]> {
  const dataDir = await freshDataDirectory()
  const scratch = await mkdtemp(join(tmpdir(), 'hub-tour-'))
  const hub = await startHubProcess(dataDir)
  try {
    await writeFile(join(scratch, 'curl'), `#!/bin/sh\nexec ${installedCurl() ?? curlStandIn} "$@"\n`)
    await chmod(join(scratch, 'curl'), 0o755)
    const outputs: string[][] = []
    for (const steps of tours) {
      const script = ['exec 2>&1', ...steps.map(({ commands }) => `${commands}\nprintf '\\n${separator}\\n'`)].join(
        '\n',
      )
      await writeFile(join(scratch, 'tour.sh'), script.replaceAll(documentedUrl, hub.url))
      const output = await bash(join(scratch, 'tour.sh'), {
        PATH: `${scratch}:${process.env.PATH}`,
        HOME: scratch,
        HUB_DATA_DIR: dataDir,
      })
      const parts = output.replaceAll(hub.url, documentedUrl).split(`\n${separator}\n`)
      outputs.push(parts.slice(0, -1).map((part) => part.trim()))
    }
    return outputs
  } finally {
    await hub.stop()
    await rm(scratch, { recursive: true, force: true })
    await removeDataDirectories()
  }
}

/** Runs a bash script in the checkout. Returns its output; rejects if it fails. */
function bash(script: string, env: Record<string, string>): Promise<string> {
  const child = spawn('bash', ['--noprofile', '--norc', script], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: scaled(240_000),
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) =>
      code === 0 ? done(output) : fail(new Error(`the tour ended with ${signal ?? code}:\n${output}`)),
    )
  })
}

const changing: readonly [kind: string, pattern: RegExp][] = [
  ['time', /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g],
  ['uuid', /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g],
  ['client', /\bsa[A-Za-z0-9]{24}\b/g],
  ['link', /(?<=\/welcome\/[a-z-]+\/)[\w-]{43}/g],
  ['secret', /\bhubs[A-Za-z0-9]{20}…/g],
  ['token', /\beyJ[\w.-]{21}…/g],
  ['hash', /\bsha256:[0-9a-f]{17}…/g],
  ['cosign', /\bomhc1\.[\w-]{18}…/g],
  ['cursor', /(?<="next_cursor": ")[\w-]{24}…/g],
  ['folder', /\/tmp\/tmp\.\w{10}\b/g],
  ['log', /\borghub\/log\/[\w-]{22}/g],
  ['leaf', /(?<="leaf_hash": ")[\w+/]{43}=/g],
  ['kept', /\b\d+ checkpoints\b/g],
  ['size', /\b\d+ bytes and SHA-256\b/g],
  ['line', /\bline \d+ record\b/g],
]

/**
 * Replaces the values that differ between runs with names. The same value gets the same name in all steps, so mixed-up
 * ids show. Values that the commands contain stay.
 */
export function maskSteps(steps: readonly Pick<TourStep, 'commands'>[], outputs: readonly string[]): string[] {
  const commands = steps.map((step) => step.commands).join('')
  const names = new Map<string, string>()
  const nameOf = (kind: string, value: string) => {
    if (commands.includes(value)) return value
    const name = names.get(value) ?? `<${kind} ${names.size + 1}>`
    names.set(value, name)
    return name
  }
  return outputs.map((output) =>
    changing.reduce((text, [kind, pattern]) => text.replace(pattern, (value) => nameOf(kind, value)), output),
  )
}

/** Returns the documented outputs of a tour with names in place of what differs between runs. */
export function documentedOutputs(steps: readonly TourStep[]): string[] {
  return maskSteps(
    steps,
    steps.map((step) => step.output),
  )
}

/** Writes the outputs of this run into the pages of a tour, if more than ids and times changed. */
async function rewritePages(steps: readonly TourStep[], outputs: readonly string[]): Promise<void> {
  const pages = [...new Set(steps.map(({ page }) => page))]
  const documented = documentedOutputs(steps)
  if (maskSteps(steps, outputs).every((output, at) => output === documented[at])) {
    return console.log(`Up to date: ${pages.join(', ')}.`)
  }
  let at = 0
  for (const page of pages) {
    const written = (await readFile(join(root, page), 'utf8')).replace(block, (_, commands: string, fence?: string) => {
      const output = outputs[at++] ?? ''
      if (output !== '' && fence === undefined) throw new Error(`no output block below:\n${commands}\n${output}`)
      return `\`\`\`sh\n${commands}\`\`\`${fence === undefined ? '' : `\n\n${fence}${output}\n\`\`\``}`
    })
    await writeFile(join(root, page), written)
    console.log(`${page} has new outputs.`)
  }
}

if (import.meta.main) {
  if (process.argv[2] !== '--write') throw new Error('usage: node tests/support/readme-tour.ts --write')
  const all = await Promise.all(tours.map(readSteps))
  const outputs = await runSteps(all)
  for (const [at, steps] of all.entries()) await rewritePages(steps, outputs[at]!)
}
