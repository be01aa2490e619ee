import { archetypes, companyName } from '../company.ts'
import type { DemoApi } from '../demo-api.ts'
import { discount } from '../models.ts'
import type { DemoPeriod } from '../period.ts'
import { failingSkill, packs, skills, skillsOf } from '../skills.ts'
import { listAll } from './lists.ts'

interface TenantDetails {
  tenant: string
  mode: string
  display_name: string
  confirmed_at?: string
  provisioned_at?: string
}

interface Price {
  llm_platform?: string
  llm_model: string
  effective_from: string
}

/** Returns the tenant. Throws unless it is of Mode A, since the demo writes content. */
export async function readTenant(api: DemoApi): Promise<TenantDetails> {
  const details = await api.get<TenantDetails>('/api/v1/tenant')
  if (details.mode === 'A') return details
  throw new Error(
    `Tenant ${details.tenant} is of Mode ${details.mode}, and the demo writes content: use one of Mode A.`,
  )
}

/** Confirms the details of the tenant and provisions its Hub. Keeps a name that is already set. */
export async function confirmTenant(api: DemoApi, details: TenantDetails): Promise<void> {
  const { tenant, display_name, confirmed_at, provisioned_at } = details
  if (confirmed_at === undefined) {
    await api.put('/api/v1/tenant', { display_name: display_name === tenant ? companyName : display_name })
  }
  if (provisioned_at === undefined) await api.post('/api/v1/hub/provision', { body: {} })
}

/** Adds the archetypes of the demo to those of the tenant. */
export async function addArchetypes(api: DemoApi): Promise<void> {
  const path = '/api/v1/roster/archetypes'
  const present = await listAll<{ archetype_id: string; name?: string }>(api, path)
  const missing = archetypes
    .filter(({ archetype_id }) => !present.some((other) => other.archetype_id === archetype_id))
    .map(({ archetype_id, name }) => ({ archetype_id, name }))
  if (missing.length > 0) await api.put(path, { archetypes: [...present, ...missing] })
}

/** Registers, publishes and grants the skills, as packs. */
export async function applyPacks(api: DemoApi): Promise<void> {
  const registered = await listAll<{ skill_id: string }>(api, '/api/v1/skill-entitlement/skills')
  if (!registered.some(({ skill_id }) => skill_id === failingSkill.id)) {
    const { name, description } = skills.find(({ id }) => id === failingSkill.id)!
    await api.post('/api/v1/hub/records', {
      body: {
        record_type: 'skill_definition',
        skill_id: failingSkill.id,
        skill_version: failingSkill.formerVersion,
        name,
        description,
        owner: 'Support',
      },
    })
  }
  const stored = await listAll<{ cowork_id: string; applied_at?: string }>(api, '/api/v1/skill-entitlement/coworks')
  for (const pack of packs) {
    if (stored.some((other) => other.cowork_id === pack.id && other.applied_at !== undefined)) continue
    const path = `/api/v1/skill-entitlement/coworks/${pack.id}`
    await api.put(path, {
      name: pack.name,
      skills: skillsOf(pack).map(({ id, version, name, description }) => ({
        skill_id: id,
        skill_version: version,
        name,
        description,
        owner: pack.name,
      })),
      archetype_ids: pack.archetypes,
    })
    await api.post(`${path}/apply`, { body: {} })
  }
}

/** Adds the negotiated price to the tenant's own prices. It must precede the telemetry, whose cost is fixed at ingest. */
export async function addPrice(api: DemoApi, { priceMs }: DemoPeriod): Promise<void> {
  const path = '/api/v1/telemetry/prices'
  const { prices } = await api.get<{ prices: Price[] }>(path)
  const { platform, model } = discount.model
  const since = new Date(priceMs).toISOString()
  const isThere = (price: Price) =>
    price.llm_platform === platform && price.llm_model === model && Date.parse(price.effective_from) === priceMs
  if (prices.some(isThere)) return
  const own = {
    llm_platform: platform,
    llm_model: model,
    effective_from: since,
    input_usd_per_mtok: discount.inputUsdPerMtok,
    output_usd_per_mtok: discount.outputUsdPerMtok,
  }
  await api.put(path, { prices: [...prices, own] })
}
