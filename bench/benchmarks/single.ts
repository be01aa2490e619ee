// Measures single ingest against a bare Fastify echo, and against a plain service with one INSERT per request. See
// ../README.md.
import { startReference } from '../baselines/start-reference.ts'
import { createTwin } from '../baselines/twin-table.ts'
import { AcknowledgedIds } from '../support/acknowledged-ids.ts'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { type Load, sendSingles } from '../support/closed-loop.ts'
import { loadColumns, type MeasuredLoad, measureLoad } from '../support/cpu-times.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { keyChoices } from '../support/key-choices.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleSingles } from '../support/sample-events.ts'
import { spreadOf } from '../support/statistics.ts'
import { checkEvents } from '../support/summary.ts'

const connections = 64
const bodies = sampleSingles(connections * 16)

interface Subject {
  name: string
  /** The process id of the server. */
  pid: number
  send(seconds: number): Promise<Load>
}

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const acknowledged = new AcknowledgedIds()
  const echo = await startReference('echo')
  const plain = await startReference('plain-insert', {
    connection: hub.database.connection.owner,
    table: await createTwin(hub.database, 'plain_insert'),
  })
  const json = { 'content-type': 'application/json' }
  const reference = (name: string, { url, pid }: { url: string; pid: number }, expectedStatus: number): Subject => ({
    name,
    pid,
    send: (seconds) =>
      sendSingles(bodies, { url, path: '/events', headers: json, connections, seconds, expectedStatus }),
  })
  const variants = keyChoices(run)
  const subjects: Subject[] = [
    reference(echoName, echo, 200),
    reference(plainName, plain, 201),
    ...variants.map(({ name, keys }) => ({
      name: `single ingest, ${name}`,
      pid: hub.pid,
      send: async (seconds: number) =>
        sendSingles(bodies, {
          url: hub.url,
          path: '/api/v1/telemetry/events',
          headers: await tenant.headers(),
          connections,
          seconds,
          expectedStatus: 201,
          keys,
          acknowledged,
        }),
    })),
  ]

  logProgress(`warming up each for ${run.warmUpSeconds} s`)
  for (const { send } of subjects) await send(run.warmUpSeconds)
  const loads = new Map<string, MeasuredLoad[]>(subjects.map(({ name }) => [name, []]))
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    for (const { name, pid, send } of subjects) {
      const measured = await measureLoad({ pid, postgresPid: hub.postgresPid }, () => send(run.seconds))
      const { load } = measured
      loads.get(name)!.push(measured)
      logProgress(`round ${round}: ${name}: ${Math.round(load.perSecond)} requests/s, p99 ${load.latencyMs.p99} ms`)
    }
  }
  profile.end()
  const check = await checkEvents(hub, tenant, acknowledged)
  await plain.stop()
  await hub.stop()
  await profile.show(hub.pid)

  const rates = (name: string) => loads.get(name)!.map(({ load }) => load.perSecond)
  const outcomes = variants.flatMap(({ name, keys }) =>
    [
      { reference: echoName, target: keys ? 0.25 : 0.3 },
      { reference: plainName, target: 4 },
    ].map(({ reference, target }) => {
      const other = rates(reference)
      const ratios = rates(`single ingest, ${name}`).map((rate, at) => rate / other[at]!)
      const facts = { figure: `single ingest, requests/s, ${name}`, reference: `${reference}, requests/s` }
      return outcomeOf(ratios, { ...facts, unit: '×', bound: 'min', target })
    }),
  )
  const rows = subjects.map(({ name }) => ({ what: name, ...loadColumns(loads.get(name)!) }))
  return {
    outcomes,
    tables: { [`Single ingest, ${connections} connections (CPU time per request)`]: rows },
    checks: [check],
    notes: { ...settings, rates: Object.fromEntries(subjects.map(({ name }) => [name, spreadOf(rates(name), 5)])) },
  }
}

const echoName = 'bare Fastify echo'
const plainName = 'plain service, one INSERT per request'

await runFigure({
  name: 'single',
  title: 'Single ingest against a bare echo and a plain service',
  seconds: 10,
  rounds: 5,
  flags: ['keys', 'profile'],
  measure,
})
