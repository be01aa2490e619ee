// Measures the disk space and the WAL of each event, by table and index. See ../README.md.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { type BenchHub, type BenchTenant, durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { sampleBatches } from '../support/sample-events.ts'
import { diskUse, openInspection, type Relation, type WalSpan, walPosition, walUse } from '../support/stored-bytes.ts'
import { checkEvents } from '../support/summary.ts'

const eventsPerBatch = 1000
const connections = 4
const settleSecondsMax = 1800
/** Relations with fewer bytes for each event are summed up in one row. */
const bytesShown = 1

async function measure(run: Run) {
  const events = eventsOf(run)
  const hub = await startBenchHub()
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const client = await openInspection(hub)
  const changed = await changeSettings(client, run.flag('set'))
  const acknowledged = new AcknowledgedIds()
  const bodies = sampleBatches(64, eventsPerBatch)

  async function ingest(count: number): Promise<CpuShares> {
    const before = cpuTimes(hub)
    await sendBatches(hub, tenant, { bodies, requests: Math.ceil(count / eventsPerBatch), acknowledged })
    const shares = cpuShares(before, cpuTimes(hub), count)
    await settle(client)
    return shares
  }
  async function walOf(work: () => Promise<unknown>): Promise<WalSpan> {
    const from = await walPosition(client)
    await work()
    return walUse(client, from, await walPosition(client))
  }

  await client.query('checkpoint')
  await ingest(events / 5)
  const checkpoint = await lastCheckpoint(client)
  let cpu: CpuShares | undefined
  const plain = await walOf(async () => {
    cpu = await ingest(events)
  })
  logProgress(`${events} events: ${Math.round(plain.bytes / events)} B of WAL each`)
  if ((await lastCheckpoint(client)) !== checkpoint) throw new Error('a checkpoint ran meanwhile: take fewer --events')
  await client.query('checkpoint')
  const after = await walOf(() => ingest(events / 2))
  await client.query('checkpoint')
  const vacuum = await walOf(() => client.query('vacuum (analyze)'))
  const check = await checkEvents(hub, tenant, acknowledged)
  const stored = acknowledged.count
  const disk = await diskUse(client)
  await hub.stop()

  const perEvent = (bytes: number, count = stored) => Math.round(bytes / count)
  const total = disk.reduce((sum, { bytes }) => sum + bytes, 0)
  const spans: [string, WalSpan, number][] = [
    ['batches, no checkpoint', plain, events],
    ['batches, a checkpoint before', after, events / 2],
    ['VACUUM, a checkpoint before', vacuum, stored],
  ]
  return {
    outcomes: [
      {
        figure: `disk space of each of ${stored} events, after VACUUM`,
        reference: 'none',
        ...({ unit: 'B', value: perEvent(total), bound: 'max', target: 800 } as const),
      },
      {
        figure: `WAL of each of ${events} events, no checkpoint`,
        reference: 'none',
        ...({ unit: 'B', value: perEvent(plain.bytes, events), bound: 'max', target: 1200 } as const),
      },
    ],
    tables: {
      'Bytes of each event': relationRows(disk, plain, { stored, events }),
      'WAL of each event, bytes': spans.map(([what, span, count]) => ({
        what,
        WAL: perEvent(span.bytes, count),
        'full-page images': perEvent(span.imageBytes, count),
        'of them for hint bits': perEvent(span.hintBytes, count),
      })),
    },
    checks: [check],
    notes: { ...settings, ...changed, cpu },
  }
}

function eventsOf(run: Run): number {
  const events = Number(run.flag('events') ?? (run.quick ? 10_000 : 300_000))
  if (Number.isSafeInteger(events) && events >= 10_000 && events % 10_000 === 0) return events
  throw new Error('--events must be a multiple of 10,000')
}

/** Changes settings that need no restart, given as `name=value,…`, and returns them. */
async function changeSettings(client: pg.Client, given: string | undefined): Promise<Record<string, string>> {
  const pairs = (given ?? '').split(',').filter((pair) => pair !== '')
  for (const pair of pairs) {
    const [name, value] = pair.split('=')
    if (value === undefined) throw new Error(`--set takes name=value, not ${pair}`)
    await client.query(`alter system set ${client.escapeIdentifier(name!)} = ${client.escapeLiteral(value)}`)
  }
  if (pairs.length > 0) await client.query('select pg_reload_conf()')
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]))
}

async function sendBatches(
  hub: BenchHub,
  tenant: BenchTenant,
  { bodies, requests, acknowledged }: { bodies: Buffer[]; requests: number; acknowledged: AcknowledgedIds },
): Promise<void> {
  await sendInTurn(bodies, {
    url: hub.url,
    path: '/api/v1/telemetry/events:batch',
    headers: await tenant.headers(),
    connections,
    seconds: Number.POSITIVE_INFINITY,
    requestsMax: requests,
    expectedStatus: 201,
    keys: true,
    acknowledged,
  })
}

/** Waits until the tenant log and the rollups contain all events: their WAL belongs to the events. */
async function settle(client: pg.Client): Promise<void> {
  const began = performance.now()
  for (;;) {
    const { rows } = await client.query<{ waiting: number }>(
      `select (select count(*) from hub.telemetry_deltas)::int + (select count(*) from hub.seal_arrivals)::int as waiting`,
    )
    const { waiting } = rows[0]!
    if (waiting === 0) return
    if (performance.now() - began > settleSecondsMax * 1000) throw new Error(`${waiting} rows still wait`)
    await sleep(500)
  }
}

async function lastCheckpoint(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select redo_lsn::text as lsn from pg_control_checkpoint()')
  return rows[0]!.lsn
}

function relationRows(
  disk: Awaited<ReturnType<typeof diskUse>>,
  wal: WalSpan,
  { stored, events }: { stored: number; events: number },
): Row[] {
  const nameOf = ({ table, index }: Relation) => index ?? table
  const walOf = new Map(wal.byRelation.map((one) => [nameOf(one), one.bytes / events]))
  const rows = disk.map((one) => {
    const name = nameOf(one)
    return { name, disk: one.bytes / stored, filled: one.filledPercent, wal: walOf.get(name) ?? 0 }
  })
  const shown = rows.filter((row) => row.disk >= bytesShown || row.wal >= bytesShown)
  const sum = (pick: (row: (typeof rows)[number]) => number, of = rows) => of.reduce((all, row) => all + pick(row), 0)
  const rest = (pick: (row: (typeof rows)[number]) => number) => Math.round(sum(pick) - sum(pick, shown))
  return [
    ...shown.map(({ name, disk: bytes, filled, wal: walBytes }) => ({
      'table or index': name,
      disk: Math.round(bytes),
      'filled %': filled === undefined ? '' : Math.round(filled),
      WAL: Math.round(walBytes),
    })),
    { 'table or index': 'others', disk: rest((row) => row.disk), WAL: rest((row) => row.wal) },
    {
      'table or index': 'commits, page headers, catalogue',
      disk: 0,
      WAL: Math.round(wal.bytes / events - sum((row) => row.wal)),
    },
    { 'table or index': 'all', disk: Math.round(sum((row) => row.disk)), WAL: Math.round(wal.bytes / events) },
  ]
}

await runFigure({
  name: 'bytes',
  title: 'Disk space and WAL of each event',
  seconds: 1,
  rounds: 1,
  flags: ['events', 'set'],
  measure,
})
