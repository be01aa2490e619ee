import type { SkillState } from '../../contract/literals.ts'
import { EventBus } from '../../server/event-bus.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createSkillRegistry } from '../../server/modules/entitlement/entitlement-service.ts'
import { createGovernanceLog } from '../../server/modules/governance/governance-log.ts'
import type { GovernanceLog } from '../../server/modules/governance/governance-types.ts'
import { IdempotencyKeys } from '../../server/modules/idempotency/idempotency-service.ts'
import { archetypeIds } from '../../server/modules/roster/roster-store.ts'
import { createEventWriter, type InvocationOutbox } from '../../server/modules/telemetry/ingest/event-writer.ts'
import { GroupCommit } from '../../server/modules/telemetry/ingest/group-commit.ts'
import { createCatalogues, createReferenceReader } from '../../server/modules/telemetry/ingest/telemetry-catalogue.ts'
import { createTenantLive } from '../../server/modules/telemetry/ingest/tenant-live-service.ts'
import { createPriceBook } from '../../server/modules/telemetry/prices/list-price-book.ts'
import { createTelemetry } from '../../server/modules/telemetry/telemetry-service.ts'
import { readTexts, storedText } from '../../server/records/stored-text.ts'
import { callerOf, openRecordLab } from '../hub/record-lab.ts'

const unusedOutbox: InvocationOutbox = {
  watches: { of: async () => undefined },
  outbox: {
    step: () => {
      throw new Error('nothing is to be told')
    },
    queued: () => {},
  },
}

/** Telemetry on a real database, without HTTP; each `openProcess` knows only what is stored. */
export async function openTelemetryLab() {
  const lab = await openRecordLab()
  const { database, records } = lab
  const stored = createGovernanceLog({ ...records, events: new EventBus() })

  function openProcess(overrides: { governance?: GovernanceLog; nowMs?: () => number } = {}) {
    const { governance = stored, nowMs } = overrides
    const warnings: string[] = []
    const catalogues = createCatalogues({
      database,
      archetypes: { allIds: archetypeIds },
      skills: createSkillRegistry({ events: new EventBus() }),
      ...(nowMs ? { nowMs } : {}),
    })
    const idempotency = new IdempotencyKeys({ database })
    const book = createPriceBook()
    const writer = createEventWriter({
      ...{ database, records, idempotency, invocationOutbox: unusedOutbox },
      prices: { bookOf: async () => book },
      deltaStored: () => {},
    })
    const telemetry = createTelemetry({
      idempotency,
      references: createReferenceReader({ catalogues, writer }),
      writer,
      groups: new GroupCommit(writer, { stored: () => {}, pauseMs: () => 0, slowed: () => {} }),
      live: createTenantLive({ database, governance, log: { warn: (_, message) => warnings.push(message) } }),
    })
    return { telemetry, warnings }
  }

  async function openTenant(slug: string, mode: Tenant['mode'] = 'A') {
    const tenant: Tenant = { ...(await lab.openTenant(slug)), mode }
    const now = new Date().toISOString()
    await database.withTenant(slug, async (tx) => {
      await tx.db
        .insertInto('hub.tenant_settings')
        .values({
          tenant_id: slug,
          display_name: slug,
          admin_email: 'a@example.com',
          search_language: 'simple',
          updated_at: now,
        })
        .execute()
    })
    await addArchetype(slug, 'analyst')
    await setSkill(slug, 'sum-up', 'draft')
    return callerOf(tenant)
  }

  async function addArchetype(slug: string, id: string): Promise<void> {
    await database.withTenant(slug, (tx) =>
      tx.db.insertInto('hub.archetypes').values({ tenant_id: slug, archetype_id: id }).execute(),
    )
  }

  async function setSkill(slug: string, id: string, state: SkillState): Promise<void> {
    const now = new Date().toISOString()
    await database.withTenant(slug, (tx) =>
      tx.db
        .insertInto('hub.skills')
        .values({ tenant_id: slug, skill_id: id, state, created_at: now, updated_at: now })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'skill_id']).doUpdateSet({ state }))
        .execute(),
    )
  }

  async function canonicalsOf(slug: string, recordType: string): Promise<Record<string, unknown>[]> {
    return database.withTenant(slug, async (tx) => {
      const { rows } = await tx.client.query<{ record_id: string; canonical: string }>(
        `select r.record_id, ${storedText('r')} as canonical from hub.records r
         where r.tenant_id = $1 and r.record_type = $2 order by r.record_id`,
        [slug, recordType],
      )
      readTexts(tx, rows)
      return rows.map((row) => JSON.parse(row.canonical) as Record<string, unknown>)
    })
  }

  return { ...lab, governance: stored, openProcess, openTenant, addArchetype, setSkill, canonicalsOf }
}
