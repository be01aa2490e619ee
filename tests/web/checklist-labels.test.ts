import { describe, expect, test } from 'vitest'
import { describeMissing, describeOptional, wasMet } from '../../web/pages/onboarding/checklist-labels.ts'
import type { Health } from '../../web/pages/onboarding/checklist-steps.ts'

const at = '2026-11-22T08:00:00.000000Z'

/** A tenant in which nothing was done yet, with what is changed of it. */
function healthOf(checks: { [Name in keyof Health['checks']]?: Partial<Health['checks'][Name]> } = {}): Health {
  const check = { ok: false, detail: 'For callers of the API.' }
  return {
    live: false,
    checked_at: at,
    checks: {
      identity: { ...check, sso_configured: false, sso_healthy: false, scim_configured: false, ...checks.identity },
      platforms: { ...check, connected: 0, publishing: 0, failing: 0, ...checks.platforms },
      hub: { ...check, provisioned: false, ...checks.hub },
      roster: { ...check, users: 0, unmatched: 0, groups: 0, ...checks.roster },
      skills: { ...check, published: 0, granted: 0, grants: 0, ...checks.skills },
      telemetry: { ...check, events_received: 0, ...checks.telemetry },
    },
  } as Health
}

describe('what was met before and is not now', () => {
  const names = ['identity', 'platforms', 'hub', 'roster', 'skills', 'telemetry'] as const

  test('is nothing in a new tenant', () => {
    expect(names.filter((name) => wasMet(name, healthOf()))).toEqual([])
  })

  test('is not what was begun and never worked', () => {
    const begun = healthOf({
      identity: { sso_configured: true, sso_healthy: false, scim_configured: true, last_synced_at: at },
      platforms: { connected: 1, failing: 1 },
      roster: { users: 3, unmatched: 3 },
      skills: { published: 1 },
    })
    expect(names.filter((name) => wasMet(name, begun))).toEqual([])
  })

  test('is what the answer says to have worked once', () => {
    const broken = healthOf({
      identity: { sso_configured: true, sso_healthy: true, scim_configured: true, last_synced_at: at },
      platforms: { connected: 1, failing: 1, last_publish_at: at },
      hub: { provisioned: true },
    })
    expect(names.filter((name) => wasMet(name, broken))).toEqual(['identity', 'platforms', 'hub'])
  })

  test('is everything once the tenant was live', () => {
    expect(names.filter((name) => wasMet(name, { ...healthOf(), live_since: at }))).toEqual([...names])
  })
})

test('people are missing in words that also hold for who is added by hand', () => {
  expect(describeMissing('roster', healthOf())).toContain('nobody added by hand has an archetype')
  expect(describeMissing('roster', healthOf({ roster: { users: 25, unmatched: 1 } }))).toContain(
    '1 of 25 people has no',
  )
  expect(describeMissing('roster', healthOf({ roster: { ok: true, users: 25 } }))).toBe('')
})

describe('a trial does without', () => {
  const names = ['identity', 'platforms', 'hub', 'roster', 'skills', 'telemetry'] as const
  const optionalOf = (health: Health) => names.filter((name) => describeOptional(name, health))

  test('single sign-on and platforms, and says why', () => {
    expect(optionalOf(healthOf())).toEqual(['identity', 'platforms'])
    expect(describeOptional('identity', healthOf({ identity: { scim_configured: true } }))).toContain('welcome link')
    expect(describeOptional('platforms', healthOf())).toContain('telemetry API')
  })

  test('nothing that was begun or is met', () => {
    expect(optionalOf(healthOf({ identity: { sso_configured: true }, platforms: { connected: 1 } }))).toEqual([])
    expect(optionalOf(healthOf({ identity: { ok: true }, platforms: { ok: true } }))).toEqual([])
  })
})
