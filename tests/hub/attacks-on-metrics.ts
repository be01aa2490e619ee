import { type Attack, sql } from './attack-ways.ts'

/**
 * Attacks on the figures of the command center, and on the prices of calculated costs. tests/telemetry/rollup-audit.test.ts
 * and tests/full/adjustment-proofs.test.ts have more ways.
 */
export const attacksOnFigures: readonly Attack[] = [
  {
    name: 'Edit, add or delete figures of the command center',
    ways: {
      'a row of every view': sql(
        ({ slug }) =>
          `insert into hub.telemetry_rollups (tenant_id, grain, view, first_quarter, cell, invocations, failures, tokens_in,
             tokens_out, cost_estimate_micros, cost_computed_micros, unpriced, latency)
           select '${slug}', grain, view, 96 * 20500, '\\x00', 1, 0, 1, 1, 1, 1, 0, '\\x0102'
           from unnest(array['quarter', 'day']) grain,
             unnest(array['all', 'no_user', 'skill', 'archetype', 'user', 'platform', 'model']) view`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Edit, add or delete ratings or sums of erased events, and the figures with them',
    ways: {
      'a rating': sql(
        ({ slug }) =>
          `insert into hub.telemetry_ratings (tenant_id, record_id, cost_computed_micros, rated_at)
           values ('${slug}', gen_random_uuid(), 1000000, now())`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Edit, add or delete prices',
    ways: {
      'a row': sql(
        ({ slug }) =>
          `insert into hub.price_overrides (tenant_id, override_id, llm_model, effective_from, input_usd_per_mtok,
             output_usd_per_mtok) values ('${slug}', gen_random_uuid(), 'gpt-4o', '2026-01-01Z', 1000, 1000)`,
      ),
    },
    foundBy: ['sweep'],
  },
]
