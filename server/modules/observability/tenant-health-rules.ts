import type { Static } from 'typebox'
import { parseTimestamp } from '../../../contract/timestamp.ts'
import type { TenantHealthResponse } from './tenant-health-schemas.ts'
import type { HealthFacts } from './tenant-health-types.ts'

const syncMicrosMax = 3_600_000_000
const publishMicrosMax = 60_000_000

type TenantHealth = Static<typeof TenantHealthResponse>
type Checks = TenantHealth['checks']

/** Judges a tenant by the conditions of interface section 4.4, as of `now` (RFC 3339). */
export function judgeHealth(facts: HealthFacts, now: string): TenantHealth {
  const checks: Checks = {
    identity: identityCheck(facts, now),
    platforms: platformsCheck(facts, now),
    hub: hubCheck(facts),
    roster: rosterCheck(facts),
    skills: skillsCheck(facts),
    telemetry: telemetryCheck(facts),
  }
  const { tenantSlug, liveSince } = facts
  return {
    tenant_slug: tenantSlug,
    live: liveSince !== undefined && Object.values(checks).every(({ ok }) => ok),
    ...(liveSince !== undefined && { live_since: liveSince }),
    checked_at: now,
    checks,
  }
}

function identityCheck({ sso, scim, lastSyncedAt }: HealthFacts, now: string): Checks['identity'] {
  const healthy = sso.configured && sso.healthy === true
  const synced = isWithin(lastSyncedAt, now, syncMicrosMax)
  const missing: string[] = []
  if (!sso.configured) missing.push('Single sign-on is not configured: POST /api/v1/identity/sso/configure.')
  else if (!healthy) {
    const { detail = 'The identity provider does not respond correctly.' } = sso
    missing.push(`${sentence(detail)} POST /api/v1/identity/sso:test finds the reason.`)
  }
  if (!scim) missing.push('SCIM is not configured: POST /api/v1/identity/scim/configure.')
  else if (!synced) missing.push(unsynced(scim.mode, lastSyncedAt))
  return {
    ok: missing.length === 0,
    detail: missing.join(' ') || 'Single sign-on is healthy, and the roster was synced within the last hour.',
    sso_configured: sso.configured,
    sso_healthy: healthy,
    ...(sso.checkedAt !== undefined && { sso_checked_at: sso.checkedAt }),
    scim_configured: scim !== undefined,
    ...(scim && { scim_mode: scim.mode }),
    ...(lastSyncedAt !== undefined && { last_synced_at: lastSyncedAt }),
  }
}

function unsynced(mode: 'push' | 'pull', lastSyncedAt: string | undefined): string {
  const since =
    lastSyncedAt === undefined
      ? 'The roster was never synced'
      : `The last sync of the roster was at ${lastSyncedAt}, more than an hour ago`
  const push = mode === 'push' ? ' or let the directory send its changes to the SCIM address,' : ''
  return `${since}: POST /api/v1/roster/scim:sync,${push} and see GET /api/v1/roster/scim-syncs for what failed.`
}

function platformsCheck({ connectors }: HealthFacts, now: string): Checks['platforms'] {
  const times = connectors.flatMap(({ publishedAt }) => (publishedAt === undefined ? [] : [publishedAt]))
  const publishing = times.filter((time) => isWithin(time, now, publishMicrosMax)).length
  const last = times.toSorted((a, b) => microsOf(a) - microsOf(b)).at(-1)
  return {
    ok: publishing > 0,
    detail: platformsDetail(connectors.length, publishing, last),
    connected: connectors.length,
    publishing,
    failing: connectors.filter(({ error }) => error !== undefined).length,
    ...(last !== undefined && { last_publish_at: last }),
  }
}

function platformsDetail(connected: number, publishing: number, last: string | undefined): string {
  if (connected === 0) return 'No platform is connected: POST /api/v1/llm/connectors.'
  if (publishing > 0)
    return `${publishing} of ${connected} connected platforms accepted a publish in the last 60 seconds.`
  const since =
    last === undefined ? 'No connected platform has accepted a publish yet' : `The last publish was at ${last}`
  return (
    `${since}, and one within 60 seconds is needed. GET /api/v1/llm/connectors says what failed, ` +
    'POST /api/v1/llm/connectors/{connector_id}:test tries one, ' +
    'POST /api/v1/skill-entitlement/distribution:republish publishes again.'
  )
}

function hubCheck({ provisionedAt, contentKey }: HealthFacts): Checks['hub'] {
  const provisioned = provisionedAt !== undefined
  const figures = { provisioned, ...(provisioned && { provisioned_at: provisionedAt }) }
  if (!provisioned) {
    const withKey = contentKey === undefined ? '' : ' with `cmek`'
    return { ok: false, detail: `The Hub is not provisioned: POST /api/v1/hub/provision${withKey}.`, ...figures }
  }
  if (contentKey === 'destroyed' || contentKey === 'missing') {
    const gone = contentKey === 'destroyed' ? 'was destroyed, and its content with it' : 'is missing'
    return {
      ok: false,
      detail: `The key of the customer ${gone}: POST /api/v1/hub/provision with \`cmek\` sets another one.`,
      ...figures,
    }
  }
  return { ok: true, detail: 'The Hub is provisioned.', ...figures }
}

function rosterCheck(facts: HealthFacts): Checks['roster'] {
  const { users, unmatched, groups } = facts.roster
  return { ok: users > 0 && unmatched === 0, detail: rosterDetail(facts), users, unmatched, groups }
}

function rosterDetail({ roster: { users, unmatched }, scim, unknownArchetypes }: HealthFacts): string {
  if (users === 0) return `The roster has no users: ${howPeopleCome(scim?.mode)}`
  if (unmatched === 0) return users === 1 ? 'The one user has archetypes.' : `All ${users} users have archetypes.`
  const count = `${unmatched} of ${users} users ${unmatched === 1 ? 'has' : 'have'} no archetype.`
  const list = 'GET /api/v1/roster/users?matched=false lists them'
  if (unknownArchetypes.length > 0) {
    return (
      `${count} ${list}. Groups are mapped to ${namesOf(unknownArchetypes)}, which the tenant does not have: ` +
      'PUT /api/v1/roster/archetypes adds archetypes.'
    )
  }
  return (
    `${count} ${list}; map their groups with POST /api/v1/identity/scim/configure, ` +
    'or PUT /api/v1/roster/users/{user_id}/archetypes.'
  )
}

function howPeopleCome(mode: 'push' | 'pull' | undefined): string {
  if (mode === 'pull') return 'POST /api/v1/roster/scim:sync reads the directory.'
  if (mode === 'push') return 'let the directory send them to the SCIM address of GET /api/v1/identity/scim/configure.'
  return 'POST /api/v1/identity/scim/configure connects the directory.'
}

const namedMax = 5

function namesOf(ids: readonly string[]): string {
  const more = ids.length > namedMax ? ` and ${ids.length - namedMax} more` : ''
  return ids.slice(0, namedMax).join(', ') + more
}

function skillsCheck({ skills: { published, granted, grants } }: HealthFacts): Checks['skills'] {
  const apply = 'POST /api/v1/skill-entitlement/coworks/{cowork_id}/apply'
  const detail =
    published === 0
      ? `No skill is published: ${apply} publishes those of a pack.`
      : granted === 0
        ? `${published} ${published === 1 ? 'skill is' : 'skills are'} published, but none is granted to an archetype: ${apply}, or ` +
          'PUT /api/v1/skill-entitlement/archetypes/{archetype_id}/grants.'
        : `${granted} of ${published} published skills ${granted === 1 ? 'is' : 'are'} granted to archetypes.`
  return { ok: published > 0 && granted > 0, detail, published, granted, grants }
}

function telemetryCheck({ eventsReceived, liveSince }: HealthFacts): Checks['telemetry'] {
  // Received events still count after their records were deleted.
  const ok = eventsReceived > 0 || liveSince !== undefined
  return {
    ok,
    detail: ok ? 'Telemetry arrives.' : 'No telemetry event was received yet: POST /api/v1/telemetry/events.',
    events_received: eventsReceived,
    ...(liveSince !== undefined && { first_event_at: liveSince }),
  }
}

/** Returns whether a time is within the limit; an equal age still is, and so is a time ahead of this clock. */
function isWithin(time: string | undefined, now: string, microsMax: number): boolean {
  return time !== undefined && microsOf(now) - microsOf(time) <= microsMax
}

/** Converts a time to microseconds since 1970; exact until the year 2255. */
function microsOf(time: string): number {
  const read = parseTimestamp(time)
  return read ? read.epochMs * 1000 + read.microsOfMs : Number.NEGATIVE_INFINITY
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
