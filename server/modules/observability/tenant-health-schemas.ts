import { Type } from 'typebox'
import { patterns } from '../../../contract/literals.ts'
import { object } from '../../../contract/object-schema.ts'

/** Maximum count of events: the time of a response must not grow with them. */
export const eventsCountedMax = 1000

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-05T09:30:00.000000Z'] })
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] })
const common = (detail: string) => ({
  ok: Type.Boolean({ examples: [true] }),
  detail: Type.String({ description: 'Status, or what is missing and which operation to call', examples: [detail] }),
})

export const TenantHealthResponse = object({
  tenant_slug: Type.String({ pattern: patterns.tenantSlug, examples: ['acme'] }),
  live: Type.Boolean({ description: 'Whether `tenant.live` was recorded and every check is ok', examples: [true] }),
  live_since: Type.Optional(
    time('Time of the first telemetry event (`tenant.live`), also while a check fails and `live` is false'),
  ),
  checked_at: time('Time of the figures'),
  checks: object({
    identity: object({
      ...common('Single sign-on is healthy, and the roster was synced within the last hour.'),
      sso_configured: Type.Boolean({ examples: [true] }),
      sso_healthy: Type.Boolean({
        description: 'Whether the last check of the identity provider succeeded',
        examples: [true],
      }),
      sso_checked_at: Type.Optional(time('Time of the last check')),
      scim_configured: Type.Boolean({ examples: [true] }),
      scim_mode: Type.Optional(Type.Enum(['push', 'pull'])),
      last_synced_at: Type.Optional(
        time('Last completed pull; in push mode also the last SCIM request. Ok for one hour'),
      ),
    }),
    platforms: object({
      ...common('1 of 1 connected platforms accepted a publish in the last 60 seconds.'),
      connected: count('Connectors', 1),
      publishing: count('Connectors with a publish in the last 60 seconds', 1),
      failing: count('Connectors whose last attempt failed', 0),
      last_publish_at: Type.Optional(time('Last accepted publish to any of them')),
    }),
    hub: object({
      ...common('The Hub is provisioned.'),
      provisioned: Type.Boolean({ examples: [true] }),
      provisioned_at: Type.Optional(time('When it was provisioned')),
    }),
    roster: object({
      ...common('All 5000 users have archetypes.'),
      users: count('Active users of the directory, and others that have archetypes', 5000),
      unmatched: count('Active users of the directory that have no archetype', 0),
      groups: count('Groups of the directory', 12),
    }),
    skills: object({
      ...common('3 of 3 published skills are granted to archetypes.'),
      published: count('Skills in the state `published`', 3),
      granted: count('Published skills that are granted to an archetype', 3),
      grants: count('Grants of published skills', 6),
    }),
    telemetry: object({
      ...common('Telemetry arrives.'),
      events_received: Type.Integer({
        minimum: 0,
        maximum: eventsCountedMax,
        description: `Telemetry records, counted up to ${eventsCountedMax}`,
        examples: [eventsCountedMax],
      }),
      first_event_at: Type.Optional(time('Time of the first one')),
    }),
  }),
})
