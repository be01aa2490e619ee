import type { Breach } from './schema-rules.ts'

/**
 * The breaches in the code of this version. On one server they have no effect; a distributed database would refuse rows
 * or lose sight of them. tests/db/source-rules.test.ts holds the list to the sources.
 */
export const programBreaches: readonly Breach[] = [
  {
    rule: 14,
    where: 'server/db/pooled-database.ts',
    detail: 'SET LOCAL is part of a string with several statements',
  },
  { rule: 15, where: 'server/db/ingest-script.ts', detail: 'a pipeline has no explicit BEGIN and COMMIT' },
  {
    rule: 17,
    where: 'server/modules/legal-holds/recovery-periods-store.ts',
    detail: 'an UPDATE computes a value with interval arithmetic, to_json or to_jsonb',
  },
  {
    rule: 17,
    where: 'server/modules/roster/sync/syncs-store.ts',
    detail: 'an UPDATE computes a value with interval arithmetic, to_json or to_jsonb',
  },
]
