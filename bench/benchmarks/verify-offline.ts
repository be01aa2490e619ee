// Measures offline verification of an export in JSON Lines, against JSON.parse of the same file. See ../README.md.
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { atEnd } from '../support/cleanup.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { writeSignedExport } from '../support/signed-export.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'

const recordsDefault = 300_000
const recordsQuick = 10_000

interface Timed {
  wallS: number
  /** CPU seconds of all threads of this process, because other threads read files. */
  cpuS: number
}

async function measure(run: Run) {
  const records = Number(run.flag('records') ?? (run.quick ? recordsQuick : recordsDefault))
  const directory = await mkdtemp(join(tmpdir(), 'hub-bench-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'export.jsonl')
  logProgress(`writing an export of ${records} records`)
  writeSignedExport(path, records)
  const megabytes = (await stat(path)).size / 1e6

  const subjects = [
    { name: 'JSON.parse of each line', work: () => parseEach(path, records) },
    { name: 'hub verify', work: () => verify(path, records) },
  ]
  const times = new Map<string, Timed[]>(subjects.map(({ name }) => [name, []]))
  let memoryMb = 0
  for (let round = 0; round <= run.rounds; round++) {
    for (const { name, work } of subjects) {
      const timed = await time(work)
      // The first round warms up.
      if (round > 0) times.get(name)!.push(timed)
      memoryMb = Math.max(memoryMb, process.memoryUsage().rss / 1e6)
      logProgress(`round ${round}: ${name}: ${Math.round(records / timed.cpuS)} records/s of one core`)
    }
  }
  const perCore = (name: string) => times.get(name)!.map(({ cpuS }) => records / cpuS)
  const [reference, verification] = subjects.map(({ name }) => perCore(name)) as [number[], number[]]
  const ratio = spreadOf(verification.map((rate, i) => rate / reference[i]!))
  return {
    outcomes: [
      outcomeOf(verification, {
        figure: 'offline verification of an export in JSON Lines, of one core',
        reference: 'none',
        ...{ unit: 'records/s', bound: 'min', target: 60_000, stretch: 100_000 },
      }),
    ],
    tables: {
      [`An export of ${records.toLocaleString('en')} telemetry events (${Math.round(megabytes)} MB) in seals of up to 64`]:
        subjects.map(({ name }) => ({
          what: name,
          'records/s of one core': Math.round(median(perCore(name))),
          'records/s': Math.round(median(times.get(name)!.map(({ wallS }) => records / wallS))),
          'CPU µs per record': rounded(median(times.get(name)!.map(({ cpuS }) => (cpuS / records) * 1e6))),
        })),
    },
    remarks: [
      `Verification is ${ratio.median} (${ratio.min} to ${ratio.max}) as fast as reading the file line by line with ` +
        `JSON.parse, and the process was never larger than ${Math.round(memoryMb)} MB.`,
    ],
  }
}

async function time(work: () => Promise<void>): Promise<Timed> {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { wallS: (performance.now() - began) / 1e3, cpuS: (user + system) / 1e6 }
}

async function verify(path: string, records: number): Promise<void> {
  const { report } = await verifyFile(path, {})
  if (!report.verified || report.checked !== records) throw new Error(`not verified: ${JSON.stringify(report)}`)
}

async function parseEach(path: string, records: number): Promise<void> {
  let count = 0
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if ((JSON.parse(line) as { record_id?: string }).record_id !== undefined) count++
  }
  if (count !== records) throw new Error(`${count} of ${records} lines are records`)
}

await runFigure({
  name: 'verify-offline',
  title: 'Offline verification of an export',
  seconds: 0.1,
  rounds: 5,
  flags: ['records'],
  measure,
})
