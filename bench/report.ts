// Writes the measured results into README.md, from the JSON in results/: a table, and the conditions of the runs.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FigureResult, isMet, outcomeRow, type Row } from './support/figure.ts'

const figures = [
  'batch',
  'bytes',
  'old-new',
  'single',
  'otlp',
  'sdk',
  'latency',
  'page',
  'search',
  'growth',
  'verify',
  'verify-offline',
  'summary',
  'fold',
  'memory',
  'tokens',
  'authenticated',
  'refusals',
  'bodies',
  'export',
  'deliveries',
  'fairness',
]
const results = join(import.meta.dirname, 'results')
const readme = join(import.meta.dirname, 'README.md')
/** The part between these lines is written. The site would show comments as text. */
const markers = { from: '## Figures\n', to: '## What limits the targets that are not met\n' }

async function readResults(): Promise<FigureResult[]> {
  const files = (await readdir(results)).filter((name) => figures.some((figure) => name === `${figure}.json`))
  const read = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(results, name), 'utf8')) as FigureResult),
  )
  return read.sort((a, b) => figures.indexOf(a.figure) - figures.indexOf(b.figure))
}

function tableOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [
    line(names),
    line(names.map((name) => (rows.every((row) => typeof (row[name] ?? 0) === 'number') ? '--:' : '---'))),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ''))),
  ].join('\n')
}

/** Returns the text with separators in its large numbers. */
const readable = (text: string) => text.replaceAll(/\d{5,}/g, (digits) => Number(digits).toLocaleString('en'))

function rowsOf(read: readonly FigureResult[]): Row[] {
  const outcomes = read.flatMap((result) => result.outcomes.map((outcome) => ({ outcome, result })))
  return outcomes.map(({ outcome, result }, at) => {
    const { figure, reference, target, measured } = outcomeRow(outcome)
    return {
      '': at + 1,
      ...{ figure: readable(`${figure}`), reference: readable(`${reference}`) },
      ...{ target: readable(`${target}`), measured: readable(`${measured}`) },
      met: isMet(outcome) ? 'yes' : '**no**',
      command: `\`npm run bench:${result.figure}\``,
    }
  })
}

/** Says where the runs were, and whether each acknowledged event was found. */
function conditionsOf(read: readonly FigureResult[]): string {
  const list = (values: readonly unknown[]) => [...new Set(values)].join(' and ')
  const checks = read.flatMap((result) => result.checks ?? [])
  const sum = (of: 'acknowledged' | 'missing') => checks.reduce((total, check) => total + check[of], 0)
  const counted = checks.every((check) => check.summary_invocations === check.stored_events)
  const versions = read.flatMap(({ notes }) => notes?.server_version ?? [])
  const dates = read.map((result) => result.measured_at.slice(0, 10)).sort()
  return [
    `Measured from ${dates[0]} to ${dates.at(-1)} on ${list(read.map(({ machine }) => `${machine.cores} cores of ${machine.cpu} with ${machine.memory_gib} GiB`))}, ` +
      `Node ${list(read.map(({ node }) => node.slice(1)))}, PostgreSQL ${list(versions)}.`,
    'If there were several rounds, the value is their median; least and most are in brackets.',
    `${sum('acknowledged').toLocaleString('en')} events were answered with 201 in these runs; ${sum('missing')} of them were not found stored.`,
    `The summaries counted ${counted ? 'exactly' : '**not**'} what was stored.`,
  ].join('\n')
}

const read = await readResults()
if (read.length === 0) throw new Error('there are no results: run npm run bench first')
const text = await readFile(readme, 'utf8')
const [from, to] = [text.indexOf(markers.from), text.indexOf(markers.to)]
if (from < 0 || to < from) throw new Error(`README.md lacks ${markers.from} or ${markers.to}`)
const head = text.slice(0, from + markers.from.length)
await writeFile(readme, `${head}\n${tableOf(rowsOf(read))}\n\n${conditionsOf(read)}\n\n${text.slice(to)}`)
console.log(`${read.map(({ figure }) => figure).join(', ')}: written to bench/README.md`)
