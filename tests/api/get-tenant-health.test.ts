import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { problemOf } from '../tenants/operator-lab.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const path = '/api/v1/observability/tenant-health'

test('a new tenant has nothing yet, and every check says what to call', async () => {
  const { status, body } = await hub.call('acme', 'GET', path)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    tenant_slug: 'acme',
    live: false,
    checked_at: expect.stringMatching(/\.\d{6}Z$/),
    checks: {
      identity: { ok: false, sso_configured: false, sso_healthy: false, scim_configured: false },
      platforms: { ok: false, connected: 0, publishing: 0, failing: 0 },
      hub: { ok: false, provisioned: false },
      roster: { ok: false, users: 0, unmatched: 0, groups: 0 },
      skills: { ok: false, published: 0, granted: 0, grants: 0 },
      telemetry: { ok: false, events_received: 0 },
    },
  })
  expect(body).not.toHaveProperty('live_since')
  for (const check of Object.values<{ detail: string }>(body.checks)) {
    expect(check.detail).toMatch(/(GET|POST|PUT) \/api\/v1\//)
  }
})

test('what one tenant has is not another’s', async () => {
  await hub.call('globex', 'POST', '/api/v1/hub/provision', { body: {} })
  await hub.call('globex', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes: [{ archetype_id: 'writer' }] } })
  const skill = { record_type: 'skill_definition', skill_id: 'summarise', skill_version: '1.0.0', name: 'Summarise' }
  await hub.call('globex', 'POST', '/api/v1/hub/records', { body: skill })
  const sent = event({ skill_id: 'summarise', archetype_id: 'writer' })
  expect((await hub.call('globex', 'POST', '/api/v1/telemetry/events', { body: sent })).status).toBe(201)
  const health = (await hub.call('globex', 'GET', path)).body
  expect(health).toMatchObject({
    live: false,
    live_since: expect.stringMatching(/\.\d{6}Z$/),
    checks: { hub: { ok: true, provisioned: true }, telemetry: { ok: true, events_received: 1 } },
  })
  expect(health.checks.telemetry.first_event_at).toBe(health.live_since)
  const live = await hub.call('globex', 'GET', '/api/v1/hub/records?event_kind=tenant.live')
  expect(live.body.records).toHaveLength(1)
  expect((await hub.call('acme', 'GET', path)).body.checks).toMatchObject({
    hub: { ok: false },
    telemetry: { events_received: 0 },
  })
})

test('any token of the tenant may ask, whatever its scope, and no other', async () => {
  for (const scope of scopeNames) expect((await hub.call('acme', 'GET', path, { scopes: [scope] })).status).toBe(200)
  expect(problemOf(await hub.call('acme', 'GET', path, { token: null }))).toEqual([401, 'authentication-failed'])
  for (const tenant of ['globex', 'nowhere']) {
    const headers = { 'x-service-tenant': tenant }
    expect(problemOf(await hub.call('acme', 'GET', path, { headers }))).toEqual([403, 'invalid-tenant'])
  }
  expect(problemOf(await hub.call('acme', 'GET', `${path}?verbose=1`))).toEqual([400, 'validation-failed'])
})
