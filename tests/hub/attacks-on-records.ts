import { recordHash } from '../../provenance/index.ts'
import {
  type Attack,
  all,
  allButExport,
  change,
  fromTheLog,
  insertForged,
  sha256,
  sql,
  subjectColumns,
} from './attack-ways.ts'

/** Records, their states and seals. */
export const attacksOnRecords: readonly Attack[] = [
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
      trace_id: subjectColumns(`trace_id = '${'ab'.repeat(16)}'`),
      session_id: subjectColumns(`session_id = 'another'`),
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
    name: 'Set a state whose recovery period has ended, to hide a record',
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
    name: 'Shorten the recovery period of a purged record',
    ways: {
      'by a day': sql(
        ({ purged }) =>
          `update hub.record_states set hard_delete_after = hard_delete_after - interval '1 day' where record_id = '${purged}'`,
      ),
    },
    foundBy: ['read', 'verify', 'sweep'],
  },
  {
    name: 'End the recovery period of a purged record, to have it erased',
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
]
