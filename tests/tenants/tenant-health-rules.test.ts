import { expect, test } from 'vitest'
import { judgeHealth } from '../../server/modules/observability/tenant-health-rules.ts'
import type { HealthFacts } from '../../server/modules/observability/tenant-health-types.ts'

const now = '2026-03-01T12:00:00.000000Z'
const live: HealthFacts = {
  tenantSlug: 'acme',
  liveSince: '2026-02-01T00:00:00.000000Z',
  provisionedAt: '2026-01-01T00:00:00.000000Z',
  sso: { configured: true, healthy: true, checkedAt: now, detail: 'fine' },
  scim: { mode: 'pull' },
  unknownArchetypes: [],
  lastSyncedAt: '2026-03-01T11:30:00.000000Z',
  connectors: [{ publishedAt: '2026-03-01T11:59:30.000000Z' }, { error: { detail: 'refused', at: now } }],
  roster: { users: 5000, unmatched: 0, groups: 4 },
  skills: { published: 3, granted: 2, grants: 5 },
  eventsReceived: 7,
}

test('a live tenant is live, with every figure', () => {
  expect(judgeHealth(live, now)).toEqual({
    tenant_slug: 'acme',
    live: true,
    live_since: live.liveSince,
    checked_at: now,
    checks: {
      identity: {
        ok: true,
        detail: expect.any(String),
        sso_configured: true,
        sso_healthy: true,
        sso_checked_at: now,
        scim_configured: true,
        scim_mode: 'pull',
        last_synced_at: live.lastSyncedAt,
      },
      platforms: {
        ok: true,
        detail: '1 of 2 connected platforms accepted a publish in the last 60 seconds.',
        connected: 2,
        publishing: 1,
        failing: 1,
        last_publish_at: '2026-03-01T11:59:30.000000Z',
      },
      hub: { ok: true, detail: expect.any(String), provisioned: true, provisioned_at: live.provisionedAt },
      roster: { ok: true, detail: expect.any(String), users: 5000, unmatched: 0, groups: 4 },
      skills: { ok: true, detail: expect.any(String), published: 3, granted: 2, grants: 5 },
      telemetry: { ok: true, detail: expect.any(String), events_received: 7, first_event_at: live.liveSince },
    },
  })
})

const sso = 'POST /api/v1/identity/sso'
test.each<[string, Partial<HealthFacts>, string, string]>([
  ['no single sign-on', { sso: { configured: false } }, 'identity', `${sso}/configure`],
  ['a provider that is away', { sso: { configured: true, healthy: false, detail: 'Gone.' } }, 'identity', 'Gone. POST'],
  ['a provider never asked', { sso: { configured: true } }, 'identity', `${sso}:test`],
  ['no SCIM', { scim: undefined }, 'identity', 'POST /api/v1/identity/scim/configure'],
  ['no sync', { lastSyncedAt: undefined }, 'identity', 'POST /api/v1/roster/scim:sync'],
  ['an old push', { scim: { mode: 'push' }, lastSyncedAt: '2026-03-01T10:00:00Z' }, 'identity', 'SCIM address'],
  ['no connector', { connectors: [] }, 'platforms', 'POST /api/v1/llm/connectors'],
  ['no publish', { connectors: [{}] }, 'platforms', 'has accepted a publish yet'],
  ['an unprovisioned Hub', { provisionedAt: undefined }, 'hub', 'POST /api/v1/hub/provision'],
  ['a destroyed key', { contentKey: 'destroyed' }, 'hub', 'destroyed'],
  ['no users', { roster: { users: 0, unmatched: 0, groups: 0 } }, 'roster', 'POST /api/v1/roster/scim:sync'],
  [
    'no users, of a directory that sends them',
    { roster: { users: 0, unmatched: 0, groups: 0 }, scim: { mode: 'push' } },
    'roster',
    'let the directory send them to the SCIM address',
  ],
  ['an unmatched user', { roster: { users: 2, unmatched: 1, groups: 0 } }, 'roster', 'matched=false'],
  [
    'a map to archetypes that are not there',
    { roster: { users: 2, unmatched: 2, groups: 1 }, unknownArchetypes: ['analyst', 'writer'] },
    'roster',
    'mapped to analyst, writer, which the tenant does not have: PUT /api/v1/roster/archetypes',
  ],
  ['no published skill', { skills: { published: 0, granted: 0, grants: 0 } }, 'skills', 'coworks/{cowork_id}/apply'],
  ['no grant', { skills: { published: 2, granted: 0, grants: 0 } }, 'skills', 'archetypes/{archetype_id}/grants'],
  ['no event', { eventsReceived: 0, liveSince: undefined }, 'telemetry', 'POST /api/v1/telemetry/events'],
])('%s is red, says what to do, and turns no other check red', (_name, facts, check, words) => {
  const health = judgeHealth({ ...live, ...facts }, now)
  const red = Object.entries(health.checks).filter(([, { ok }]) => !ok)
  expect([health.live, red.map(([name]) => name)]).toEqual([false, [check]])
  expect(red[0]?.[1].detail).toContain(words)
})

test('without the event tenant.live nothing is live, even if events are there', () => {
  const health = judgeHealth({ ...live, liveSince: undefined }, now)
  expect([health.live, health.live_since, health.checks.telemetry.ok]).toEqual([false, undefined, true])
})

test('events that were deleted since have been received all the same', () => {
  const health = judgeHealth({ ...live, eventsReceived: 0 }, now)
  expect([health.live, health.checks.telemetry.events_received]).toEqual([true, 0])
})

test('an hour and a minute are exact, to the microsecond', () => {
  const synced = (lastSyncedAt: string) => judgeHealth({ ...live, lastSyncedAt }, now).checks.identity.ok
  expect([synced('2026-03-01T11:00:00.000000Z'), synced('2026-03-01T10:59:59.999999Z')]).toEqual([true, false])
  const published = (publishedAt: string) =>
    judgeHealth({ ...live, connectors: [{ publishedAt }] }, now).checks.platforms.ok
  expect([published('2026-03-01T11:59:00.000000Z'), published('2026-03-01T11:58:59.999999Z')]).toEqual([true, false])
  // Written by a clock that is a little ahead.
  expect([synced('2026-03-01T12:00:01.000000Z'), published('2026-03-01T12:00:01.000000Z')]).toEqual([true, true])
})

test('the last publish of all counts, whichever connector took it', () => {
  const times = ['2026-03-01T11:59:10.000000Z', '2026-03-01T11:59:50.000000Z', '2026-03-01T11:00:00.000000Z']
  const { platforms } = judgeHealth({ ...live, connectors: times.map((publishedAt) => ({ publishedAt })) }, now).checks
  expect([platforms.last_publish_at, platforms.publishing]).toEqual([times[1], 2])
})

test('one is one, in words', () => {
  const one = judgeHealth(
    {
      ...live,
      roster: { users: 1, unmatched: 0, groups: 1 },
      skills: { published: 1, granted: 1, grants: 1 },
    },
    now,
  )
  expect(one.checks.roster.detail).toBe('The one user has archetypes.')
  expect(one.checks.skills.detail).toBe('1 of 1 published skills is granted to archetypes.')
  const unmatched = judgeHealth({ ...live, roster: { users: 2, unmatched: 1, groups: 1 } }, now)
  expect(unmatched.checks.roster.detail).toMatch(/^1 of 2 users has no archetype\./)
})
