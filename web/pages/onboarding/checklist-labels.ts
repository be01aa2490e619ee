import { formatCount } from '../../ui/formats.ts'
import type { CheckName, Health } from './checklist-steps.ts'

const syncMsMax = 3_600_000

/**
 * The missing part of each check that is not met, in the terms of these pages; the Hub's own texts are for API callers.
 */
const missing: { [Name in CheckName]: (check: Health['checks'][Name], checkedAt: string) => string[] } = {
  identity: (check, checkedAt) => [
    ...(check.sso_configured
      ? check.sso_healthy
        ? []
        : ['Single sign-on is connected, but does not work. Its test says at what it fails.']
      : ['People cannot sign in with the company account yet.']),
    ...(check.scim_configured ? unsynced(check.last_synced_at, checkedAt) : ['The directory is not connected yet.']),
  ],
  platforms: ({ connected, last_publish_at }) => {
    if (connected === 0) return ['No platform is connected yet.']
    return [
      last_publish_at === undefined
        ? 'No connected platform has taken the skills yet. Its connector says what failed.'
        : 'No platform took the skills within the last 60 seconds. The connectors say what failed.',
    ]
  },
  hub: ({ provisioned }) => [
    provisioned
      ? 'The key of your organisation is missing or was destroyed. Give the Hub another one.'
      : 'The Hub is not provisioned yet.',
  ],
  roster: ({ users, unmatched }) => [
    users === 0
      ? 'Nobody came from the directory yet, and nobody added by hand has an archetype.'
      : `${formatCount(unmatched)} of ${formatCount(users)} people ${unmatched === 1 ? 'has' : 'have'} no archetype. Map their groups, or give them archetypes by hand.`,
  ],
  skills: ({ published }) => [
    published === 0
      ? 'No skill is published yet. Applying a pack publishes the skills in it.'
      : `${formatCount(published)} ${published === 1 ? 'skill is' : 'skills are'} published, and none is granted to an archetype.`,
  ],
  telemetry: () => ['No event has come in yet.'],
}

function unsynced(lastSyncedAt: string | undefined, checkedAt: string): string[] {
  if (lastSyncedAt === undefined) return ['The directory was never synced.']
  return Date.parse(checkedAt) - Date.parse(lastSyncedAt) > syncMsMax
    ? ['The directory was synced last more than an hour ago.']
    : []
}

/** Returns true if a check was met before, as far as the Hub records it: if it is not met now, it is broken. */
export function wasMet(name: CheckName, { checks, live_since }: Health): boolean {
  const { identity, platforms, hub } = checks
  const before: Partial<Record<CheckName, boolean>> = {
    identity: identity.sso_configured && identity.sso_healthy && identity.last_synced_at !== undefined,
    platforms: platforms.last_publish_at !== undefined,
    hub: hub.provisioned,
  }
  return live_since !== undefined || (before[name] ?? false)
}

/** @returns why a check is not met; empty if it is met */
export function describeMissing(name: CheckName, { checks, checked_at }: Health): string {
  return checks[name].ok ? '' : missing[name](checks[name] as never, checked_at).join(' ')
}

/** The reasons why a trial does not need a check that was never begun. */
const optional: { [Name in CheckName]?: { isBegun(check: Health['checks'][Name]): boolean; why: string } } = {
  identity: {
    isBegun: ({ sso_configured }) => sso_configured,
    why: 'People sign in by a welcome link or, in development, by the mock login.',
  },
  platforms: {
    isBegun: ({ connected }) => connected > 0,
    why: 'Events can be sent to the telemetry API without a connected platform.',
  },
}

/** @returns why a trial can omit a check; undefined if it cannot, or if the check is met or was begun */
export function describeOptional(name: CheckName, { checks }: Health): string | undefined {
  const rule = optional[name]
  return rule && !checks[name].ok && !rule.isBegun(checks[name] as never) ? rule.why : undefined
}
