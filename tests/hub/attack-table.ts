import { hash } from 'node:crypto'
import type pg from 'pg'
import { recordHash } from '../../provenance/index.ts'
import type { TestHub } from '../support/hub.ts'
import { forgeKey, forgePurge, introduceBy, putInKey } from './attack-keys.ts'
import { checkpointsOfAnotherProcess, decisionDraft, type Scene, tenantTables, writeSealed } from './attack-scenes.ts'

/**
 * What somebody does who has the database in their hands, as its superuser, but not the master key of the service; and what
 * finds it. docs/auditor.md has the same table: the test compares them.
 */

/** In the order of the columns. */
export const detectors = {
  read: 'Reading with `verify=true`',
  verify: '`POST …/verify`',
  sweep: 'Sweeper',
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
function sql(statement: (scene: Scene) => string): Way {
  return (db, scene) => change(db, statement(scene))
}

async function change(db: pg.Client, statement: string): Promise<void> {
  const { rowCount } = await db.query(statement)
  if (!rowCount) throw new Error(`nothing changed: ${statement}`)
}

const subjectColumns = (assignment: string) =>
  sql(({ subject }) => `update hub.records set ${assignment} where record_id = '${subject}'`)

const hex = (bytes: Uint8Array) => `'\\x${Buffer.from(bytes).toString('hex')}'`
const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')

const all: readonly Detector[] = ['read', 'verify', 'sweep', 'audit', 'export']
/** The log leads nowhere near it, so an export leaves it out. */
const allButExport = all.filter((detector) => detector !== 'export')
const fromTheLog: readonly Detector[] = ['sweep', 'audit', 'export']

export const attacks: readonly Attack[] = [
  {
    name: 'Edit the content of a record',
    ways: {
      canonical: sql(
        ({ neighbour }) =>
          `update hub.records set canonical = replace(canonical, 'approved', 'rejected') where record_id = '${neighbour}'`,
      ),
    },
    foundBy: all,
  },
  {
    name: 'Edit the content and its hash',
    ways: {
      both: async (db, { neighbour }) => {
        const { rows } = await db.query('select canonical from hub.records where record_id = $1', [neighbour])
        const canonical = rows[0].canonical.replace('approved', 'rejected')
        await db.query('update hub.records set canonical = $2, provenance_hash = $3 where record_id = $1', [
          neighbour,
          canonical,
          recordHash(canonical, sha256),
        ])
      },
    },
    foundBy: all,
  },
  {
    name: 'Edit an index column of a record',
    ways: {
      record_type: subjectColumns(`record_type = 'artifact'`),
      created_by: subjectColumns(`created_by = 'mallory'`),
      skill_id: subjectColumns(`skill_id = 'another'`),
      archetype_id: subjectColumns(`archetype_id = 'another'`),
      user_id: subjectColumns(`user_id = 'user:another'`),
      cost_micros: subjectColumns(`cost_micros = cost_micros + 1`),
      event_kind: sql(
        ({ event }) => `update hub.records set event_kind = 'custom.another' where record_id = '${event}'`,
      ),
    },
    foundBy: ['read', 'verify', 'sweep'],
  },
  {
    name: 'Move a record: edit its id or seal',
    ways: {
      record_id: sql(
        ({ neighbour }) =>
          `update hub.records set record_id = hub.first_record_id(now()) where record_id = '${neighbour}'`,
      ),
      seal_id: sql(
        ({ neighbour, aloneSeal }) =>
          `update hub.records set seal_id = '${aloneSeal}' where record_id = '${neighbour}'`,
      ),
    },
    foundBy: allButExport,
  },
  {
    name: 'Move a record within its seal: edit its leaf or salt',
    ways: {
      leaf_index: sql(({ seal }) => `update hub.records set leaf_index = 2 - leaf_index where seal_id = '${seal}'`),
      salt: sql(
        ({ neighbour }) =>
          `update hub.records set salt = set_byte(salt, 0, 255 - get_byte(salt, 0)) where record_id = '${neighbour}'`,
      ),
    },
    foundBy: all,
  },
  {
    name: 'Purge a record by its state (`is_purged` on)',
    ways: {
      state: sql(
        ({
          slug,
          neighbour,
        }) => `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
          values ('${slug}', '${neighbour}', 1, now(), 'client-1', 'forged', now() + interval '90 days')`,
      ),
    },
    foundBy: ['read', 'verify', 'sweep'],
  },
  {
    name: 'Hide a record behind a state whose buffer is over',
    ways: {
      state: sql(
        ({
          slug,
          neighbour,
        }) => `insert into hub.record_states (tenant_id, record_id, revision, purged_at, purged_by, purge_reason, hard_delete_after)
          values ('${slug}', '${neighbour}', 1, now(), 'client-1', 'forged', now())`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Shorten the recovery buffer of a purged record',
    ways: {
      'by a day': sql(
        ({ purged }) =>
          `update hub.record_states set hard_delete_after = hard_delete_after - interval '1 day' where record_id = '${purged}'`,
      ),
    },
    foundBy: ['read', 'verify', 'sweep'],
  },
  {
    name: 'End the recovery buffer of a purged record, to have it erased',
    ways: {
      'at once': sql(
        ({ purged }) => `update hub.record_states set hard_delete_after = purged_at where record_id = '${purged}'`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Restore a record by its state (`is_purged` off)',
    ways: {
      state: sql(
        ({ purged }) =>
          `update hub.record_states set purged_at = null, purged_by = null, purge_reason = null, hard_delete_after = null where record_id = '${purged}'`,
      ),
    },
    foundBy: ['read', 'verify', 'sweep'],
  },
  {
    name: 'Delete the state of a record, or set it back to an earlier one',
    ways: {
      deleted: sql(({ purged }) => `delete from hub.record_states where record_id = '${purged}'`),
      'set back': async (db, { slug, restored }) => {
        const { rows } = await db.query(
          `select record_id, canonical::jsonb->'details' as details, created_by from hub.records where tenant_id = $1
             and event_kind = 'hub.record_purged' and canonical::jsonb->>'subject' = $2`,
          [slug, `record:${restored}`],
        )
        const { record_id, details } = rows[0]
        await db.query(
          `update hub.record_states set revision = $2, purged_at = $3, purged_by = $4, purge_reason = $5,
             hard_delete_after = $6, event_id = $7 where record_id = $1`,
          [
            restored,
            details.revision,
            details.purged_at,
            details.actor,
            details.reason,
            details.hard_delete_after,
            record_id,
          ],
        )
      },
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Delete a record',
    ways: { row: sql(({ neighbour }) => `delete from hub.records where record_id = '${neighbour}'`) },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Delete a seal',
    ways: { row: sql(({ seal }) => `delete from hub.seals where seal_id = '${seal}'`) },
    foundBy: all,
  },
  {
    name: 'Delete a seal with its records',
    ways: {
      rows: async (db, { seal }) => {
        await change(db, `delete from hub.records where seal_id = '${seal}'`)
        await change(db, `delete from hub.seals where seal_id = '${seal}'`)
      },
    },
    foundBy: fromTheLog,
  },
  {
    name: 'Insert a forged record, with a forged seal or none',
    ways: {
      'without a seal': sql(({ neighbour }) => insertForged(neighbour, 'gen_random_uuid()')),
      'with a forged seal': async (db, { neighbour, seal }) => {
        const forged = '019a0000-0000-7000-8000-00000000beef'
        await change(
          db,
          `insert into hub.seals select tenant_id, '${forged}', key_id, sealed_at, leaves, upper_nodes, signature
           from hub.seals where seal_id = '${seal}'`,
        )
        await change(db, insertForged(neighbour, `'${forged}'::uuid`))
      },
      'with a forged seal, before the log begins': async (db, { neighbour, seal }) => {
        const forged = '019a0000-0000-7000-8000-00000000beee'
        await change(
          db,
          `insert into hub.seals select tenant_id, '${forged}', key_id, sealed_at, leaves, upper_nodes, signature
           from hub.seals where seal_id = '${seal}'`,
        )
        await change(
          db,
          `insert into hub.log_entries select tenant_id, -1, '${forged}', first_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'
           from hub.log_entries where seal_id = '${seal}'`,
        )
        await change(db, insertForged(neighbour, `'${forged}'::uuid`))
      },
    },
    foundBy: allButExport,
  },
  {
    name: 'Insert a forged record that names a real seal',
    ways: {
      'with the seal of another': sql(({ neighbour }) => insertForged(neighbour, 'seal_id')),
    },
    foundBy: all,
  },
  {
    name: 'Swap two records between tenants',
    ways: {
      tenants: async (db, scene, other) => {
        await change(db, `update hub.records set tenant_id = '${other.slug}' where record_id = '${scene.neighbour}'`)
        await change(db, `update hub.records set tenant_id = '${scene.slug}' where record_id = '${other.neighbour}'`)
      },
    },
    foundBy: allButExport,
  },
  {
    name: 'Swap the rows of two records',
    ways: {
      rows: async (db, { neighbour, alone }) => {
        const columns = ['created_by', 'seal_id', 'leaf_index', 'salt', 'provenance_hash', 'canonical']
        await change(
          db,
          `update hub.records r set ${columns.map((column) => `${column} = s.${column}`).join(', ')}
           from hub.records s where r.tenant_id = s.tenant_id
             and (r.record_id, s.record_id) in (('${neighbour}', '${alone}'), ('${alone}', '${neighbour}'))`,
        )
      },
    },
    foundBy: allButExport,
  },
  {
    name: 'Delete or edit entries of the log',
    ways: {
      deleted: sql(({ seal }) => `delete from hub.log_entries where seal_id = '${seal}'`),
      reordered: async (db, { seal, aloneSeal }) => {
        const spare = '019a0000-0000-7000-8000-00000000cafe'
        await change(db, `update hub.log_entries set seal_id = '${spare}' where seal_id = '${seal}'`)
        await change(db, `update hub.log_entries set seal_id = '${seal}' where seal_id = '${aloneSeal}'`)
        await change(db, `update hub.log_entries set seal_id = '${aloneSeal}' where seal_id = '${spare}'`)
      },
    },
    foundBy: fromTheLog,
  },
  {
    name: 'Edit the tree of the log, or its head',
    ways: {
      'a tile': sql(
        ({ slug }) =>
          `update hub.log_tiles set hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) where tenant_id = '${slug}' and level = 0`,
      ),
      'a deleted tile': sql(({ slug }) => `delete from hub.log_tiles where tenant_id = '${slug}'`),
      'the size': sql(({ slug }) => `update hub.log_heads set tree_size = tree_size - 1 where tenant_id = '${slug}'`),
      'a size beyond all': sql(
        ({ slug }) => `update hub.log_heads set tree_size = 9223372036854775807 where tenant_id = '${slug}'`,
      ),
      'the root': sql(
        ({ slug }) => `update hub.log_heads set root = ${hex(new Uint8Array(32))} where tenant_id = '${slug}'`,
      ),
      'a deleted head': sql(({ slug }) => `delete from hub.log_heads where tenant_id = '${slug}'`),
    },
    foundBy: fromTheLog,
  },
  {
    name: 'Delete a tombstone',
    ways: { row: sql(({ erased }) => `delete from hub.tombstones where record_id = '${erased}'`) },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Delete a record and forge its tombstone',
    ways: {
      'with an event of nobody': forgedTombstone('gen_random_uuid()'),
      'with the event of another erasure': forgedTombstone(
        '(select event_id from hub.tombstones t where t.tenant_id = r.tenant_id limit 1)',
      ),
    },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Edit a record, having written beforehand that it was reported',
    ways: {
      'for 400 days': async (db, { slug, neighbour }) => {
        await change(
          db,
          `insert into hub.tamper_reports (tenant_id, record_id, reported_on)
           select '${slug}', '${neighbour}', day from generate_series(now() - interval '1 day', now() + interval '400 days', '1 day') day`,
        )
        await change(
          db,
          `update hub.records set canonical = replace(canonical, 'approved', 'rejected') where record_id = '${neighbour}'`,
        )
      },
    },
    foundBy: all,
  },
  {
    name: 'Send the sweeper away by what is stored of its progress',
    ways: {
      'a claim without end': sweeps({ claimed_until: `'9999-01-01'` }),
      'a time that is none': sweeps({ started_at: `'infinity'` }),
      'a count beyond all': sweeps({ checked: '9223372036854775807' }),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Put in a key of their own',
    ways: {
      'beside the first': (db, scene) => putInKey(db, scene, forgeKey(scene.tenant.logName)),
      'that introduces the first': async (db, scene) => {
        const key = forgeKey(scene.tenant.logName)
        await putInKey(db, scene, key)
        await introduceBy(db, scene, key)
      },
    },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Forge records, such as the event of a purge, and seal them with a key of their own',
    ways: {
      'with the service that takes them into its log': async (db, scene, _, hub) => {
        const key = forgeKey(scene.tenant.logName)
        await putInKey(db, scene, key)
        await introduceBy(db, scene, key)
        await forgePurge(db, scene, hub, key)
      },
    },
    foundBy: all,
  },
  {
    name: 'Delete or edit a legal hold, or what it names',
    ways: {
      deleted: sql(({ hold }) => `delete from hub.legal_holds where hold_id = '${hold}'`),
      'its records': sql(({ hold }) => `delete from hub.legal_hold_records where hold_id = '${hold}'`),
      'its scope': sql(
        ({ hold }) =>
          `update hub.legal_holds set filter = '{"record_type":["artifact"]}', record_count = null where hold_id = '${hold}'`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'End a legal hold by its row',
    ways: {
      'from the beginning': sql(
        ({ hold }) =>
          `update hub.legal_holds set released_at = created_at + interval '1 millisecond', released_by = 'client-1',
             release_reason = 'settled', release_event_id = event_id where hold_id = '${hold}'`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Forge a release of a governance event',
    ways: {
      row: sql(
        ({ slug, event }) =>
          `insert into hub.legal_hold_releases (tenant_id, release_id, record_id, reason, created_at, created_by)
           values ('${slug}', gen_random_uuid(), '${event}', 'forged', now(), 'client-1')`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Forge a retention rule',
    ways: {
      rule: sql(({ slug }) => `insert into hub.retention_rules values ('${slug}', 'decision', null, 0)`),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Roll the database back to yesterday',
    ways: { tables: rollBack },
    foundBy: ['sweep', 'audit'],
  },
  {
    name: 'Roll the database back, and let the log grow beyond what was kept of it',
    ways: { tables: rollBackAndGrow },
    foundBy: ['sweep', 'audit'],
  },
]

/** Both lanes, with columns edited. */
function sweeps(edited: Record<string, string>): Way {
  const fresh = { log_index: '0', claimed_until: 'null', started_at: 'now()', checked: '0' }
  const columns = { ...fresh, updated_at: 'now()', failed: '0', ...edited }
  return sql(
    ({ slug }) => `insert into hub.sweeps (tenant_id, lane, ${Object.keys(columns).join(', ')})
      select '${slug}', lane, ${Object.values(columns).join(', ')} from unnest(array['all', 'recent']) lane`,
  )
}

function insertForged(original: string, seal: string): string {
  const forgedId = original.replace(/.{12}$/, 'feedfeedfeed')
  return `insert into hub.records (tenant_id, record_id, record_type, created_by, seal_id, leaf_index, salt, provenance_hash, canonical)
    select tenant_id, '${forgedId}', record_type, created_by, ${seal}, leaf_index, salt, provenance_hash,
      replace(canonical, '${original}', '${forgedId}')
    from hub.records where record_id = '${original}'`
}

function forgedTombstone(eventId: string): Way {
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
async function rollBack(db: pg.Client, { slug }: Scene): Promise<void> {
  for (const table of await tenantTables(db)) {
    await db.query(`delete from ${table} where tenant_id = $1`, [slug])
    await db.query(`insert into ${table} select * from yesterday.${backupName(table)} where tenant_id = $1`, [slug])
  }
}

/** The service goes on from there, and signs more than was kept; another process then looks at what is to be kept. */
async function rollBackAndGrow(db: pg.Client, scene: Scene, _: Scene, hub: TestHub): Promise<void> {
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

/** As docs/auditor.md has it. */
export function tableOf(rows: readonly Attack[] = attacks): string {
  const columns = Object.entries(detectors) as [Detector, string][]
  return [
    `| Attack | ${columns.map(([, title]) => title).join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...rows.map(
      ({ name, foundBy }) =>
        `| ${name} | ${columns.map(([id]) => (foundBy.includes(id) ? 'found' : '–')).join(' | ')} |`,
    ),
  ].join('\n')
}
