import { type Attack, sql } from './attack-ways.ts'

/** What keeps records. */
export const attacksOnHolds: readonly Attack[] = [
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
]
