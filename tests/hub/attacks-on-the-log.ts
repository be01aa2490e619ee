import { forgeKey, forgePurge, introduceBy, putInKey } from './attack-keys.ts'
import { type Attack, all, change, forgedTombstone, fromTheLog, hex, sql, sweeps } from './attack-ways.ts'

/** The log, what stands for the erased, the sweeper and the keys. */
export const attacksOnTheLog: readonly Attack[] = [
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
    name: 'Forge the stored progress of the integrity scan',
    ways: {
      'a claim without end': sweeps({ claimed_until: `'9999-01-01'` }),
      'a time that is none': sweeps({ started_at: `'infinity'` }),
      'a count beyond all': sweeps({ checked: '9223372036854775807' }),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Insert a key of the attacker',
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
    name: 'Forge records, such as the event of a purge, and seal them with a key of the attacker',
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
]
