import { hash } from 'node:crypto'
import type pg from 'pg'
import type { TestHub } from '../support/hub.ts'
import { checkpointsOfAnotherProcess, decisionDraft, type Scene, tenantTables, writeSealed } from './attack-scenes.ts'

/** In the order of the columns. */
export const detectors = {
  read: 'Reading with `verify=true`',
  verify: '`POST …/verify`',
  sweep: 'Integrity scan',
  audit: '`hub log audit`',
  export: 'Export, then `hub verify`',
} as const
export type Detector = keyof typeof detectors

export interface Attack {
  name: string
  /** Each is made by itself, and found by the same. */
  ways: Record<string, (db: pg.Client, scene: Scene, other: Scene, hub: TestHub) => Promise<void>>
  foundBy: readonly Detector[]
}

type Way = Attack['ways'][string]

/** One statement about the scene, which must change something. */
export function sql(statement: (scene: Scene) => string): Way {
  return (db, scene) => change(db, statement(scene))
}

export async function change(db: pg.Client, statement: string): Promise<void> {
  const { rowCount } = await db.query(statement)
  if (!rowCount) throw new Error(`nothing changed: ${statement}`)
}

export const subjectColumns = (assignment: string) =>
  sql(({ subject }) => `update hub.records set ${assignment} where record_id = '${subject}'`)

export const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString('hex')}'`
export const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')

export const all: readonly Detector[] = ['read', 'verify', 'sweep', 'audit', 'export']
/** The log leads nowhere near it, so an export leaves it out. */
export const allButExport = all.filter((detector) => detector !== 'export')
export const fromTheLog: readonly Detector[] = ['sweep', 'audit', 'export']

/** Both lanes, with columns edited. */
export function sweeps(edited: Record<string, string>): Way {
  const fresh = { log_index: '0', claimed_until: 'null', started_at: 'now()', checked: '0' }
  const columns = { ...fresh, updated_at: 'now()', failed: '0', ...edited }
  return sql(
    ({ slug }) => `insert into hub.sweeps (tenant_id, lane, ${Object.keys(columns).join(', ')})
      select '${slug}', lane, ${Object.values(columns).join(', ')} from unnest(array['all', 'recent']) lane`,
  )
}

export function insertForged(original: string, seal: string): string {
  const forgedId = original.replace(/.{12}$/, 'feedfeedfeed')
  return `insert into hub.records (tenant_id, record_id, record_type, created_by, seal_id, leaf_index, salt, provenance_hash, canonical)
    select tenant_id, '${forgedId}', record_type, created_by, ${seal}, leaf_index, salt, provenance_hash,
      replace(canonical, '${original}', '${forgedId}')
    from hub.records where record_id = '${original}'`
}

export function forgedTombstone(eventId: string): Way {
  return async (db, { neighbour }) => {
    await change(
      db,
      `insert into hub.tombstones (tenant_id, record_id, record_type, seal_id, leaf_index, purged_at, purged_by, purge_reason, event_id, erased_at)
       select tenant_id, record_id, record_type, seal_id, leaf_index, now() - interval '31 days', 'client-1', 'forged', ${eventId}, now()
       from hub.records r where record_id = '${neighbour}'`,
    )
    await change(db, `delete from hub.records where record_id = '${neighbour}'`)
  }
}

/** Every row of the tenant as it was in the copy that {@link backUp} made. */
export async function rollBack(db: pg.Client, { slug }: Scene): Promise<void> {
  for (const table of await tenantTables(db)) {
    await db.query(`delete from ${table} where tenant_id = $1`, [slug])
    await db.query(`insert into ${table} select * from yesterday.${backupName(table)} where tenant_id = $1`, [slug])
  }
}

/** The service goes on from there, and signs more than was kept; another process then looks at what is to be kept. */
export async function rollBackAndGrow(db: pg.Client, scene: Scene, _: Scene, hub: TestHub): Promise<void> {
  await rollBack(db, scene)
  const { tenant, slug } = scene
  for (let at = 0; at < 5; at += 1) await writeSealed(hub, tenant, decisionDraft(`anew ${at}`))
  const { treeSize } = await hub.modules.log.logs.integrate(tenant)
  const checkpoints = checkpointsOfAnotherProcess(hub, [slug])
  const before = await checkpoints.newest(tenant.logName)
  if (before === undefined || before.treeSize >= treeSize) throw new Error('the log has not outgrown what was kept')
  checkpoints.keeper.start()
  await checkpoints.keeper.stop()
}

const backupName = (table: string) => table.replace('hub.', '')

export async function backUp(db: pg.Client): Promise<void> {
  await db.query('create schema yesterday')
  for (const table of await tenantTables(db)) {
    await db.query(`create table yesterday.${backupName(table)} as select * from ${table}`)
  }
}
