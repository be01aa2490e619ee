import { dirname } from 'node:path'
import type pg from 'pg'
import { expect, vi } from 'vitest'
import type { RecordType } from '../../contract/literals.ts'
import type { JsonValue } from '../../provenance/json.ts'
import { EventBus } from '../../server/event-bus.ts'
import type { Tenant } from '../../server/http/caller.ts'
import type { CheckpointStore } from '../../server/modules/log/checkpoint-sinks/checkpoint-store.ts'
import { openCheckpointStore } from '../../server/modules/log/checkpoint-sinks/checkpoint-store.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'

/** What an attack finds: records of each kind, sealed, in the log, and the log's state kept outside. */
export interface Scene {
  tenant: Tenant
  slug: TestTenant
  /** An output with every index column that its type can have; the first of a seal of three. */
  subject: string
  /** A decision; the second of the seal. */
  neighbour: string
  /** The third. */
  event: string
  /** Their seal. */
  seal: string
  /** The only record of its seal. */
  alone: string
  aloneSeal: string
  /** A hold in force that names it. */
  hold: string
  purged: string
  restored: string
  /** Purged more than a month ago, and erased since. */
  erased: string
}

interface Draft {
  recordType: RecordType
  fields: Record<string, JsonValue>
}

export const decisionDraft = (name: string): Draft => ({
  recordType: 'decision',
  fields: {
    decision_id: name,
    decision_subject: 'vendor',
    decision_outcome: 'approved',
    decision_rationale: 'the cheapest that does it',
    decision_actor_role: 'lead',
  },
})

const outputDraft: Draft = {
  recordType: 'output',
  fields: {
    skill_id: 'skill-1',
    archetype_id: 'archetype-1',
    user_id: 'user:someone@example.com',
    title: 'Report',
    cost_usd_estimate: 0.25,
  },
}

const eventDraft: Draft = {
  recordType: 'governance_event',
  fields: { event_kind: 'custom.reviewed', subject: 'policy' },
}

/** Writes records under one seal. Answers their ids. */
export async function writeSealed(hub: TestHub, tenant: Tenant, ...drafts: Draft[]): Promise<string[]> {
  const { sealer, writer } = hub.modules.recordStore.records
  const batch = await sealer.seal(
    tenant,
    drafts.map((draft) => ({ createdBy: 'client-1', ...draft })),
  )
  await hub.test.database.withTenant(tenant.slug, (tx) => writer.insert(tx, batch))
  return batch.records.map((record) => record.recordId)
}

async function sealOf(db: pg.Client, recordId: string): Promise<string> {
  const { rows } = await db.query('select seal_id from hub.records where record_id = $1', [recordId])
  return rows[0].seal_id
}

/** A scene in a tenant of its own for each name. */
export async function openScenes(
  hub: TestHub,
  db: pg.Client,
  time: FakeClock,
  names: readonly string[],
): Promise<Map<string, Scene>> {
  const opened: Omit<Scene, 'hold' | 'purged' | 'restored'>[] = []
  for (const [at] of names.entries()) {
    const slug = `scene-${at}` as TestTenant
    const { tenant } = await hub.modules.tenants.administration.create(
      { slug, mode: 'A', adminEmail: `admin@${slug}.example` },
      { operator: 'test' },
    )
    const [erased] = await writeSealed(hub, tenant, decisionDraft('erased'), decisionDraft('beside it'))
    await purge(hub, slug, erased!)
    const [subject, neighbour, event] = await writeSealed(
      hub,
      tenant,
      outputDraft,
      decisionDraft('neighbour'),
      eventDraft,
    )
    const [alone] = await writeSealed(hub, tenant, decisionDraft('alone'))
    opened.push({
      ...{ tenant, slug, erased: erased!, subject: subject!, neighbour: neighbour!, event: event!, alone: alone! },
      seal: await sealOf(db, subject!),
      aloneSeal: await sealOf(db, alone!),
    })
  }
  time.step({ days: 31 })
  const scenes = new Map<string, Scene>()
  for (const [at, scene] of opened.entries()) {
    const { slug, tenant } = scene
    await hub.modules.hub.erasure.run(tenant)
    const hold = await placeHold(hub, slug, scene.alone)
    const [purged, restored] = await writeSealed(hub, tenant, decisionDraft('purged'), decisionDraft('restored'))
    await purge(hub, slug, purged!)
    await purge(hub, slug, restored!)
    await call(hub, slug, 'POST', `${restored}:restore`)
    await hub.modules.log.logs.integrate(tenant)
    scenes.set(names[at]!, { ...scene, hold, purged: purged!, restored: restored! })
  }
  return scenes
}

async function placeHold(hub: TestHub, slug: TestTenant, recordId: string): Promise<string> {
  const body = { name: 'Case 17', reason: 'Litigation', record_ids: [recordId] }
  const answer = await hub.call(slug, 'POST', '/api/v1/hub/legal-holds', { body })
  if (answer.status !== 201) throw new Error(`a hold: ${answer.status} ${answer.text}`)
  return answer.body.hold_id
}

export async function purge(hub: TestHub, slug: TestTenant, recordId: string): Promise<void> {
  await call(hub, slug, 'DELETE', `${recordId}?reason=twice`)
}

async function call(hub: TestHub, slug: TestTenant, method: string, path: string): Promise<void> {
  const answer = await hub.call(slug, method, `/api/v1/hub/records/${path}`)
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
}

/** Keeps the state of the logs outside, now. */
export async function keepCheckpoints(hub: TestHub, scenes: Iterable<Pick<Scene, 'tenant'>>): Promise<void> {
  const { keeper, newest } = hub.modules.checkpoints
  keeper.start()
  for (const { tenant } of scenes) {
    const { treeSize } = await hub.modules.log.logs.integrate(tenant)
    const isKept = async () => expect((await newest(tenant.logName))?.treeSize).toBe(treeSize)
    await vi.waitFor(isKept, patience)
  }
  await keeper.stop()
}

/** What another process has of the checkpoints: the same files, and a keeper, which looks at these tenants only. */
export function checkpointsOfAnotherProcess(hub: TestHub, slugs: readonly string[]): CheckpointStore {
  const { checkpoints, tenants, log } = hub.modules
  const directory = dirname(checkpoints.filesOf('any')[0]!)
  const events = new EventBus()
  events.on('checkpointMismatch', (mismatch) => hub.modules.events.publish('checkpointMismatch', mismatch))
  return openCheckpointStore({
    config: { checkpointSinks: [{ kind: 'file', directory }], environment: 'development' },
    database: hub.test.database,
    directory: { ...tenants.directory, slugs: async () => slugs },
    logs: log.logs,
    events,
    log: { info() {}, warn() {}, error() {} },
  })
}

/** Tables with rows of tenants, as a backup has them. */
export async function tenantTables(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query(
    `select c.oid::regclass::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'hub'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname = 'tenant_id' order by 1`,
  )
  return rows.map((row) => row.name)
}
