// Measures exports by format against COPY of the same rows to a client, and their memory. See ../README.md.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freshDataDirectory } from '../../tests/support/data-directory.ts'
import type { Accomplishment, Assignment } from '../baselines/export-process.ts'
import { durability } from '../support/bench-hub.ts'
import { atEnd } from '../support/cleanup.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'
import { openFilled } from '../support/two-sizes.ts'

type Order = NonNullable<Assignment['order']>

const orders: { name: string; order: Order; target?: number }[] = [
  { name: 'JSONL', order: { format: 'jsonl' }, target: 0.5 },
  { name: 'Parquet', order: { format: 'parquet' }, target: 0.15 },
  { name: 'CSV', order: { format: 'csv' } },
  { name: 'JSONL without provenance', order: { format: 'jsonl', includeProvenance: false } },
  { name: 'JSONL, gzip', order: { format: 'jsonl', compression: 'gzip' } },
  { name: 'JSONL, verified', order: { format: 'jsonl', verify: true } },
]
const rssTargetMb = 300
const megabyte = 1e6

interface Measured {
  rates: number[]
  ratios: number[]
  last: Accomplishment
}

async function measure(run: Run) {
  const records = Number(run.flag('records') ?? (run.quick ? 20_000 : 1_000_000))
  const dataDir = run.flag('data-dir') ?? (await freshDataDirectory())
  const { hub, tenant } = await openFilled(records, dataDir)
  const settings = await durability(hub.database)
  const copying = await startProcess(dataDir)
  const measured = new Map<string, Measured>()
  const copyRates: number[] = []
  for (const { name, order } of orders) {
    // Uses a process of its own, so that its memory is that of this format.
    const exporting = await startProcess(dataDir)
    const rates: number[] = []
    const ratios: number[] = []
    let last: Accomplishment | undefined
    for (let round = 1; round <= run.rounds; round++) {
      const copy = await ask(copying, { tenant: tenant.slug })
      last = await ask(exporting, { tenant: tenant.slug, order })
      if (last.rows !== copy.rows) throw new Error(`${name} has ${last.rows} of ${copy.rows} rows`)
      const rate = last.rows / last.seconds
      const copyRate = copy.rows / copy.seconds
      copyRates.push(copyRate)
      rates.push(rate)
      ratios.push(rate / copyRate)
      logProgress(`${name}: ${Math.round(rate)} rows/s, COPY ${Math.round(copyRate)}, up to ${mb(last.rssMax)} MB`)
    }
    exporting.disconnect()
    measured.set(name, { rates, ratios, last: last! })
  }
  copying.disconnect()

  const targeted = orders.filter(({ target }) => target !== undefined)
  const peaks = targeted.map(({ name }) => ({ name, peak: measured.get(name)!.last.rssMax }))
  const highest = peaks.reduce((a, b) => (b.peak > a.peak ? b : a))
  const growths = targeted.map(({ name }) => growthOf(measured.get(name)!.last.rss))
  return {
    outcomes: [
      ...targeted.map(({ name, target }): Outcome => {
        const { median: value, min, max } = spreadOf(measured.get(name)!.ratios)
        return {
          figure: `export of ${records} records in ${name}, rows/s`,
          reference: 'COPY (SELECT …) TO STDOUT of the same rows, read and counted',
          unit: '×',
          value,
          spread: { min, max },
          bound: 'min',
          target: target!,
        }
      }),
      {
        figure: `resident memory of a process that exports ${records} records, highest (${highest.name})`,
        reference: 'none',
        unit: 'MB' as const,
        value: mb(highest.peak),
        bound: 'max' as const,
        target: rssTargetMb,
      },
      {
        figure: 'growth of it in the course of the export',
        reference: 'the first third, against the last third',
        unit: '%' as const,
        value: rounded(Math.max(...growths)),
        bound: 'max' as const,
        target: 10,
      },
    ],
    tables: {
      [`Exports of ${records} records`]: orders.map(({ name }): Row => {
        const { rates, ratios, last } = measured.get(name)!
        return {
          export: name,
          'rows per second': Math.round(median(rates)),
          'of COPY': rounded(median(ratios)),
          'Node µs a row': rounded((last.cpuSeconds * 1e6) / last.rows),
          'bytes a row': Math.round(last.bytes / last.rows),
          'highest RSS MB': mb(last.rssMax),
          'growth %': rounded(growthOf(last.rss)),
        }
      }),
    },
    notes: { ...settings, records, copy_rows_per_s: Math.round(median(copyRates)) },
  }
}

/**
 * Returns the growth of resident memory from the first third to the last, in percent. Use the last round, when all code
 * is compiled.
 */
function growthOf(rss: readonly number[]): number {
  const third = Math.max(1, Math.floor(rss.length / 3))
  return 100 * (median(rss.slice(-third)) / median(rss.slice(0, third)) - 1)
}

function mb(bytes: number): number {
  return Math.round(bytes / megabyte)
}

async function startProcess(dataDir: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, '../baselines/export-process.ts'), {
    env: { ...process.env, HUB_DATA_DIR: dataDir },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    if (child.connected) child.disconnect()
    await once(child, 'exit')
  })
  await answerOf(child)
  return child
}

function ask(child: ChildProcess, assignment: Assignment): Promise<Accomplishment> {
  child.send(assignment)
  return answerOf(child) as Promise<Accomplishment>
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController()
  const { signal } = answered
  try {
    const exited = once(child, 'exit', { signal }).then(() => {
      throw new Error('a process that exports ended before its time')
    })
    const [answer] = await Promise.race([once(child, 'message', { signal }), exited])
    return answer
  } finally {
    answered.abort()
  }
}

await runFigure({
  name: 'export',
  title: 'Exports against COPY of the same rows',
  seconds: 1,
  rounds: 3,
  flags: ['records', 'data-dir'],
  measure,
})
