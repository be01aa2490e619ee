import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freshDataDirectory, removeDataDirectories } from './data-directory.ts'
import { startHubProcess } from './hub-process.ts'

const root = resolve(import.meta.dirname, '../..')
const readme = join(root, 'README.md')
const documentedUrl = 'http://127.0.0.1:8080'
const separator = '\u001e'
const block = /```sh\n([\s\S]*?)```(?:\n\n(```(?:text|json)\n)([\s\S]*?)```)?/g

/** Commands of the tour, and what the README says they print: nothing, where no output block follows. */
export interface TourStep {
  commands: string
  output: string
}

/** How the tour's `curl` is found: on the machine, or as the stand-in for machines without it. */
export type Curl = 'installed' | 'stand-in'

export async function readTour(): Promise<TourStep[]> {
  const [, tour] = splitReadme(await readFile(readme, 'utf8'))
  return [...tour.matchAll(block)].map(([, commands = '', , output = '']) => ({ commands, output: output.trim() }))
}

/** Runs the tour in one bash against a Hub of its own; what each step printed, with the README's address. */
export async function takeTour(steps: readonly TourStep[], curl: Curl): Promise<string[]> {
  const dataDir = await freshDataDirectory()
  const scratch = await mkdtemp(join(tmpdir(), 'hub-tour-'))
  const hub = await startHubProcess(dataDir)
  try {
    const script = ['exec 2>&1', ...steps.map(({ commands }) => `${commands}\nprintf '\\n${separator}\\n'`)].join('\n')
    await writeFile(join(scratch, 'tour.sh'), script.replaceAll(documentedUrl, hub.url))
    if (curl === 'stand-in') await putCurlInto(scratch)
    const said = await bash(join(scratch, 'tour.sh'), {
      PATH: `${scratch}:${process.env.PATH}`,
      HOME: scratch,
      HUB_DATA_DIR: dataDir,
    })
    return said
      .replaceAll(hub.url, documentedUrl)
      .split(`\n${separator}\n`)
      .slice(0, -1)
      .map((output) => output.trim())
  } finally {
    await hub.stop()
    await rm(scratch, { recursive: true, force: true })
    await removeDataDirectories()
  }
}

async function putCurlInto(folder: string): Promise<void> {
  const path = join(folder, 'curl')
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'curl.ts')}' "$@"\n`)
  await chmod(path, 0o755)
}

function bash(script: string, env: Record<string, string>): Promise<string> {
  const child = spawn('bash', ['--noprofile', '--norc', script], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 120_000,
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) =>
      code === 0 ? done(said) : fail(new Error(`the tour ended with ${signal ?? code}:\n${said}`)),
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
 * Puts names in place of what differs from run to run, and only of that: the same value gets the same name over all
 * steps, so mixed-up ids show; what the commands themselves name stays.
 */
export function maskSteps(steps: readonly TourStep[], outputs: readonly string[]): string[] {
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

function splitReadme(text: string): [before: string, tour: string, after: string] {
  const start = text.indexOf('\n## Five-minute tour\n')
  const end = text.indexOf('\n## ', start + 1)
  if (start < 0 || end < 0) throw new Error('README.md has no section "Five-minute tour" with another after it')
  return [text.slice(0, start), text.slice(start, end), text.slice(end)]
}

/** Writes this run's outputs into the README, all of them, if any has changed by more than its ids and times. */
async function rewriteReadme(): Promise<void> {
  const steps = await readTour()
  const outputs = await takeTour(steps, 'installed')
  const documented = maskSteps(
    steps,
    steps.map((step) => step.output),
  )
  const real = maskSteps(steps, outputs)
  if (real.every((output, at) => output === documented[at])) return console.log('README.md is as it should be.')
  const [before, tour, after] = splitReadme(await readFile(readme, 'utf8'))
  let at = 0
  const written = tour.replace(block, (_, commands: string, fence?: string) => {
    const output = outputs[at++] ?? ''
    if (output !== '' && fence === undefined) throw new Error(`no output block below:\n${commands}\n${output}`)
    return `\`\`\`sh\n${commands}\`\`\`${fence === undefined ? '' : `\n\n${fence}${output}\n\`\`\``}`
  })
  await writeFile(readme, before + written + after)
  console.log('README.md has new outputs.')
}

if (import.meta.main) {
  if (process.argv[2] !== '--write') throw new Error('usage: node tests/support/tour.ts --write')
  await rewriteReadme()
}
