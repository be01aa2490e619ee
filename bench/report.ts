// Writes the measured results into README.md, from the JSON in results/: a table, a chart and the details.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FigureResult, isMet, type Outcome, outcomeRow, type Row } from './support/figure.ts'
import { rounded } from './support/statistics.ts'

const figures = [
  'batch',
  'bytes',
  'old-new',
  'single',
  'otlp',
  'sdk',
  'latency',
  'page',
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
const markers = { from: '<!-- figures: written by npm run bench:report -->', to: '<!-- end of figures -->' }

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

/** Returns the ratio of the result to its target: 1 just meets it, regardless of the bound's direction. */
function scoreOf({ value, target, bound }: Outcome): number {
  // A result that hardly grows, or shrinks, exceeds the scale.
  return rounded(Math.min(scoreMax, bound === 'min' ? value / target : target / Math.max(value, target / scoreMax)))
}

const scoreMax = 5

function chartOf(outcomes: readonly Outcome[]): string {
  const names = outcomes.map((_, at) => `"${at + 1}"`).join(', ')
  const scores = outcomes.map(scoreOf).join(', ')
  const ones = outcomes.map(() => 1).join(', ')
  return [
    '```mermaid',
    'xychart-beta',
    `    title "Measured against the target (line: the target; above it is better; at most ${scoreMax} is drawn)"`,
    `    x-axis "row of the table" [${names}]`,
    `    y-axis "times the target" 0 --> ${scoreMax}`,
    `    bar [${scores}]`,
    `    line [${ones}]`,
    '```',
  ].join('\n')
}

function detailsOf(result: FigureResult): string {
  const { machine, node, commit, measured_at, seconds, rounds, took_s, checks = [], notes, remarks = [] } = result
  const acknowledged = checks.reduce((sum, check) => sum + check.acknowledged, 0)
  const missing = checks.reduce((sum, check) => sum + check.missing, 0)
  const counted = checks.every((check) => check.summary_invocations === check.stored_events)
  const checked =
    acknowledged === 0
      ? []
      : [
          `${acknowledged.toLocaleString('en')} events were answered with 201 in this run; ${missing} of them were not ` +
            `found stored. The summary counted ${counted ? 'exactly' : '**not**'} what was stored.`,
        ]
  return [
    `### ${result.title}`,
    ...Object.entries(result.tables ?? {}).map(([caption, rows]) => `${caption}:\n\n${tableOf(rows)}`),
    ...checked,
    ...remarks,
    `<sub>${measured_at.slice(0, 10)}, commit ${commit}, ${machine.cores} cores of ${machine.cpu}${speedOf(machine.speed)}, ` +
      `${machine.memory_gib} GiB, Node ${node.slice(1)}${notes?.server_version ? `, PostgreSQL ${notes.server_version}` : ''}; ` +
      `phases of ${seconds} s, ${rounds} rounds, ${took_s} s in all.</sub>`,
  ].join('\n\n')
}

function speedOf(speed: FigureResult['machine']['speed']): string {
  if (speed === undefined) return ''
  const { echo_per_second, fsync_ms, memory_gb_per_second, load_average } = speed
  return (
    ` (echo ${echo_per_second}/s, fsync ${fsync_ms} ms, memory ${memory_gb_per_second} GB/s, ` +
    `load average ${load_average} before)`
  )
}

function reportOf(read: readonly FigureResult[]): string {
  const outcomes = read.flatMap((result) => result.outcomes.map((outcome) => ({ outcome, name: result.figure })))
  const rows = outcomes.map(({ outcome, name }, at): Row => {
    const { met, ...row } = outcomeRow(outcome)
    return { '': at + 1, ...row, met: isMet(outcome) ? 'yes' : '**no**', command: `\`npm run bench:${name}\`` }
  })
  return [
    tableOf(rows),
    'Where there were several rounds, the median is given, and in brackets the least and the most.',
    chartOf(outcomes.map(({ outcome }) => outcome)),
    ...read.map(detailsOf),
  ].join('\n\n')
}

const read = await readResults()
if (read.length === 0) throw new Error('there are no results: run npm run bench first')
const text = await readFile(readme, 'utf8')
const [from, to] = [text.indexOf(markers.from), text.indexOf(markers.to)]
if (from < 0 || to < from) throw new Error(`README.md lacks the lines ${markers.from} and ${markers.to}`)
const head = text.slice(0, from + markers.from.length)
await writeFile(readme, `${head}\n\n${reportOf(read)}\n\n${text.slice(to)}`)
console.log(`${read.map(({ figure }) => figure).join(', ')}: written to bench/README.md`)
