// Runs every benchmark, one after the other. Benchmarks that compare two sizes share their datasets. See README.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freshDataDirectory } from '../tests/support/data-directory.ts'
import { atEnd, cleanUp } from './support/cleanup.ts'
import { logProgress } from './support/progress.ts'

/** The order matters: later benchmarks leave more data behind. */
const figures = [
  'batch',
  'bytes',
  'single',
  'otlp',
  'sdk',
  'latency',
  'tokens',
  'authenticated',
  'refusals',
  'bodies',
  'export',
  'deliveries',
  'fairness',
  'verify',
  'verify-offline',
  'page',
  'search',
  'summary',
  'growth',
  'fold',
  'memory',
] as const
const withSizes: readonly string[] = ['page', 'summary', 'growth']

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    /** The larger size in records. */
    records: { type: 'string' },
    only: { type: 'string' },
  },
})

function chosen(): readonly string[] {
  if (flags.only === undefined) return figures
  const names = flags.only.split(',')
  const unknown = names.filter((name) => !(figures as readonly string[]).includes(name))
  if (unknown.length > 0) throw new Error(`--only takes ${figures.join(', ')}, not ${unknown.join(', ')}`)
  return names
}

function argumentsOf(name: string, directories: { small: string; large: string }): string[] {
  const given: string[] = []
  if (flags.quick) given.push('--quick')
  if (flags.rounds !== undefined) given.push('--rounds', flags.rounds)
  // The memory benchmark always measures ten minutes.
  if (flags.seconds !== undefined && name !== 'memory') given.push('--seconds', flags.seconds)
  if (!withSizes.includes(name)) return given
  if (flags.records !== undefined) given.push('--records', flags.records)
  return [...given, '--small', directories.small, '--large', directories.large]
}

async function run(name: string, args: string[]): Promise<boolean> {
  logProgress(`── ${name} ${args.join(' ')}`)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'benchmarks', `${name}.ts`), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = once(child, 'close')
  atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  })
  const [code] = (await ended) as [number | null]
  return code === 0
}

try {
  const names = chosen()
  const directories = { small: await freshDataDirectory('small'), large: await freshDataDirectory('large') }
  const failed: string[] = []
  for (const name of names) if (!(await run(name, argumentsOf(name, directories)))) failed.push(name)
  console.log(JSON.stringify({ ran: names, failed }))
  if (failed.length > 0) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await cleanUp()
}
process.exit()
