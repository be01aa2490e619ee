import type { TestHub } from '../support/hub.ts'

const operator = { operator: 'test' } as const
const limit = { per_token: 1_000_000, per_tenant: 1_000_000 }

/** All that sends SQL about tenants, their details and their health. */
export async function walkTenants(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const { operated } = hub.modules.tenants
  for (const body of [{ display_name: tenant }, { display_name: 'Renamed', contact_email: 'it@acme.example' }]) {
    expectStatus(await hub.call(tenant, 'PUT', '/api/v1/tenant', { body }))
  }
  expectStatus(await hub.call(tenant, 'GET', '/api/v1/tenant'))
  expectStatus(await hub.call(tenant, 'GET', '/api/v1/observability/tenant-health'))
  const { next_cursor: cursor } = await operated.list({ limit: 1 })
  await operated.list({ limit: 1, cursor: cursor ?? undefined })
  const { admin_email } = await operated.get(tenant)
  await operated.update(tenant, { admin_email: `new-${admin_email}`, limits: { 'hub-write': limit } }, operator)
  await operated.update(tenant, { admin_email, suspended: true, limits: { 'hub-write': null } }, operator)
  await operated.update(
    tenant,
    { suspended: false, export_quota: { exports_per_day: 1_000, mb_kept: 1_000 } },
    operator,
  )
  await operated.update(tenant, { export_quota: { exports_per_day: null, mb_kept: null } }, operator)
}

function expectStatus({ status, text }: { status: number; text: string }): void {
  if (status !== 200) throw new Error(`${status} ${text}`)
}
