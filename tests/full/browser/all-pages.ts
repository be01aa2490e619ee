import type { Page } from 'playwright-core'
import type { Role } from '../../../contract/roles.ts'
import type { UiLab } from '../../browser/ui-lab.ts'
import { newestSession } from '../../browser/world/telemetry.ts'

/** Every page of the UI: where it is in the full tenant, and whose role opens it. */
export interface UiPage {
  /** As the router names it. */
  route: string
  path: string
  roles: readonly Role[]
}

const everyone = ['admin', 'auditor', 'analyst', 'member'] as const
const readers = ['admin', 'auditor', 'analyst'] as const
const overseers = ['admin', 'auditor'] as const
const administrators = ['admin'] as const

/** @returns all pages, with the records, endpoints and exports that there are */
export async function allPages(lab: UiLab): Promise<UiPage[]> {
  const { records, webhooks } = lab.world
  const { items } = (await lab.hub.call('acme', 'GET', '/api/v1/hub/exports')).body
  const events = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?record_type=telemetry_event&limit=1')
  const [used] = events.body.records
  const done = items.find(({ status }: { status: string }) => status === 'completed')
  const at = (route: string, roles: readonly Role[], path = route) => ({ route, path, roles })
  return [
    at('/', everyone),
    at('/records', everyone),
    at('/records/$recordId', readers, `/records/${records.contents.markdown}`),
    at('/records/$recordId/graph', readers, `/records/${records.endOfChain}/graph?depth=5`),
    at('/records/$recordId/proof', readers, `/records/${records.contents.markdown}/proof`),
    at('/sessions', everyone),
    at('/sessions/$sessionId', everyone, `/sessions/${newestSession.id}`),
    at('/traces/$traceId', everyone, `/traces/${newestSession.traceId}`),
    at('/usage/skills/$skillId', everyone, `/usage/skills/${used.skill_id}`),
    at('/usage/people/$personId', everyone, `/usage/people/${encodeURIComponent(used.user_id)}`),
    at('/usage/models/$modelId', everyone, `/usage/models/${encodeURIComponent(used.llm_model)}`),
    at('/usage/archetypes/$archetypeId', everyone, `/usage/archetypes/${used.archetype_id}`),
    at('/governance', readers),
    at('/governance/alarms', readers),
    at('/governance/holds', administrators),
    at('/governance/certificates', readers),
    at('/governance/retention', administrators),
    at('/governance/log', readers),
    at('/budgets', everyone),
    at('/budgets/alerts', administrators),
    at('/exports', everyone),
    at('/exports/$jobId', administrators, `/exports/${done.job_id}`),
    at('/onboarding', overseers),
    at('/skills', overseers),
    at('/skills/grants', overseers),
    at('/skills/roster', overseers),
    at('/skills/connectors', administrators),
    at('/webhooks', administrators),
    at('/webhooks/$webhookId', administrators, `/webhooks/${webhooks.mixed}`),
    at('/settings', everyone),
    at('/settings/tenant', administrators),
    at('/settings/people', administrators),
    at('/settings/sign-in', administrators),
    at('/settings/directory', administrators),
    at('/settings/service-accounts', administrators),
    at('/settings/prices', everyone),
  ]
}

/** What holds the place of something that is on its way. */
export const unread = 'main [aria-busy="true"], main .mantine-Skeleton-root[data-visible]'

/** Resolves once the page has what it shows: its title, and nothing that is still being read. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.locator(unread).first().waitFor({ state: 'detached' })
}
