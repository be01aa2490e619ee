// Measures webhooks: their rate, the burden of a backlog for dead receivers, and a healthy receiver beside dead ones.
// See ../README.md.
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { measureBurden } from '../support/delivery-burden.ts'
import { measureIsolation } from '../support/delivery-isolation.ts'
import { measureRate } from '../support/delivery-rate.ts'
import { type Outcome, type Row, type Run, runFigure, type StoreCheck } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { openWebhookStage, outboundHere } from '../support/webhook-stage.ts'

const parts = ['rate', 'burden', 'isolation'] as const

/** Returns the parts of `--parts A,B`; all if absent. */
function partsOf(run: Run): readonly string[] {
  const names = run.flag('parts')?.split(',') ?? parts
  const unknown = names.filter((name) => !(parts as readonly string[]).includes(name))
  if (unknown.length > 0) throw new Error(`--parts takes ${parts.join(', ')}, not ${unknown.join(', ')}`)
  return names
}

async function measure(run: Run) {
  const chosen = partsOf(run)
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions, env: outboundHere })
  const settings = await durability(hub.database)
  const stage = await openWebhookStage(hub)
  const outcomes: Outcome[] = []
  const tables: Record<string, Row[]> = {}
  const checks: StoreCheck[] = []

  if (chosen.includes('rate')) {
    const { slug: tenant } = await hub.tenant('bench-rate')
    const messages = Number(run.flag('messages') ?? (run.quick ? 1000 : 20_000))
    const rate = await measureRate({ run, hub, stage, tenant, profile }, messages)
    outcomes.push(...rate.outcomes)
    tables['From a filled outbox to one receiver, 16 at a time (CPU time per delivery)'] = rate.rows
  }
  if (chosen.includes('burden')) {
    const tenant = await hub.tenant('bench')
    const pending = Number(run.flag('pending') ?? (run.quick ? 2000 : 100_000))
    const burden = await measureBurden({ run, hub, stage, tenant }, pending)
    outcomes.push(...burden.outcomes)
    checks.push(burden.check)
    tables['Batch ingest, 1,000 events per request, 4 connections, without and beside deliveries that wait'] =
      burden.rows
  }
  if (chosen.includes('isolation')) {
    const tenants = [(await hub.tenant('bench-one')).slug, (await hub.tenant('bench-other')).slug] as const
    const isolation = await measureIsolation({ run, stage, tenants }, run.quick ? 20 : 200)
    outcomes.push(...isolation.outcomes)
    tables['From the outbox to a healthy receiver, 10 messages a second to every endpoint'] = isolation.rows
  }
  await stage.stop()
  await hub.stop()
  await profile.show(hub.pid)
  return { outcomes, tables, checks, notes: { ...settings } }
}

await runFigure({
  name: 'deliveries',
  title: 'Deliveries of webhooks',
  seconds: 10,
  rounds: 5,
  flags: ['parts', 'messages', 'pending', 'profile'],
  measure,
})
