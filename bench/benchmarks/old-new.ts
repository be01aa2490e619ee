// Measures ingest of this checkout against another commit, in alternating rounds. See ../README.md.
import { join } from 'node:path'
import { type ServedHub, startServedHub } from '../support/bench-hub.ts'
import { checkOut } from '../support/checkout.ts'
import { sendInTurn, sendSingles } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { outcomeOf, type Row, type Run, runFigure, type StoreCheck } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches, sampleSingles } from '../support/sample-events.ts'
import { median, rounded } from '../support/statistics.ts'
import { lastDays, summaryPath } from '../support/summary.ts'

const eventsPerBatch = 1000
const ownMain = join(import.meta.dirname, '../../cli/main.ts')

interface Rate {
  perSecond: number
  cpu: CpuShares
}

interface Subject {
  hub: ServedHub
  acknowledged: number
  rates: Record<Kind, Rate[]>
}

type Kind = 'batch' | 'single'
const kinds: readonly Kind[] = ['batch', 'single']

async function measure(run: Run) {
  const old = await checkOut(run.flag('against') ?? 'HEAD~1')
  logProgress(`against ${old.commit}`)
  const subjects: Record<'new' | 'old', Subject> = {
    new: await startSubject(ownMain),
    old: await startSubject(old.main),
  }
  for (const subject of Object.values(subjects)) {
    for (const kind of kinds) await ingest(subject, kind, run.warmUpSeconds)
  }
  for (let round = 1; round <= run.rounds; round++) {
    for (const kind of kinds) {
      // The order changes, so that what one version leaves to do is not always a burden of the other.
      for (const name of round % 2 === 1 ? (['old', 'new'] as const) : (['new', 'old'] as const)) {
        const rate = await ingest(subjects[name], kind, run.seconds)
        subjects[name].rates[kind].push(rate)
        logProgress(`round ${round}: ${kind}, ${name}: ${Math.round(rate.perSecond)} events/s`)
      }
    }
  }
  const checks = [await checkOf(subjects.new), await checkOf(subjects.old)]
  const ratios = (kind: Kind, of: (rate: Rate) => number) =>
    subjects.new.rates[kind].map((rate, round) => of(rate) / of(subjects.old.rates[kind][round]!))
  const sum = ({ cpu }: Rate) => cpu.node + cpu.postgres
  return {
    outcomes: [
      outcomeOf(
        ratios('batch', ({ perSecond }) => perSecond),
        {
          figure: 'batch ingest, events/s',
          reference: `commit ${old.commit}`,
          ...{ unit: '×', bound: 'min', target: 1 },
        },
      ),
      outcomeOf(
        ratios('single', ({ perSecond }) => perSecond),
        {
          figure: 'single ingest, events/s',
          reference: `commit ${old.commit}`,
          ...{ unit: '×', bound: 'min', target: 1 },
        },
      ),
      outcomeOf(ratios('batch', sum), {
        figure: 'CPU time of service and database for each event of a batch',
        reference: `commit ${old.commit}`,
        ...{ unit: '×', bound: 'max', target: 1 },
      }),
    ],
    tables: {
      'Events per second, and CPU time for each event': kinds.flatMap((kind) =>
        (['old', 'new'] as const).map((name) => rowOf(`${kind}, ${name}`, subjects[name].rates[kind])),
      ),
    },
    checks,
  }
}

async function startSubject(main: string): Promise<Subject> {
  return { hub: await startServedHub(main), acknowledged: 0, rates: { batch: [], single: [] } }
}

async function ingest(subject: Subject, kind: Kind, seconds: number): Promise<Rate> {
  const { hub } = subject
  const common = { url: hub.url, headers: await hub.tenant.headers(), seconds, expectedStatus: 201, keys: true }
  const before = cpuTimes(hub)
  const load =
    kind === 'batch'
      ? await sendInTurn(batches, { ...common, path: '/api/v1/telemetry/events:batch', connections: 4 })
      : await sendSingles(singles, { ...common, path: '/api/v1/telemetry/events', connections: 64 })
  const events = load.answered * (kind === 'batch' ? eventsPerBatch : 1)
  subject.acknowledged += events
  return { perSecond: events / load.seconds, cpu: cpuShares(before, cpuTimes(hub), events) }
}

const batches = sampleBatches(64, eventsPerBatch)
const singles = sampleSingles(1024)

/** Counts by the summary: the database of another version must not be opened. Aborted requests may add events. */
async function checkOf({ hub, acknowledged }: Subject): Promise<StoreCheck> {
  const path = summaryPath({ ...lastDays(40), group_by: 'skill' })
  const response = await fetch(`${hub.url}${path}`, { headers: await hub.tenant.headers() })
  if (!response.ok) throw new Error(`no summary: ${response.status} ${await response.text()}`)
  const { totals } = (await response.json()) as { totals: { invocations: number } }
  return {
    acknowledged,
    missing: Math.max(0, acknowledged - totals.invocations),
    stored_events: totals.invocations,
    summary_invocations: totals.invocations,
  }
}

function rowOf(what: string, rates: readonly Rate[]): Row {
  const of = (pick: (rate: Rate) => number) => rounded(median(rates.map(pick)))
  return {
    what,
    'per second': of(({ perSecond }) => perSecond),
    'Node µs': of(({ cpu }) => cpu.node),
    'PostgreSQL µs': of(({ cpu }) => cpu.postgres),
  }
}

await runFigure({
  name: 'old-new',
  title: 'This commit against another one',
  seconds: 10,
  rounds: 6,
  flags: ['against'],
  measure,
})
