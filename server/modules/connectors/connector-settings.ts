import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { RedactedUrl } from '../../secrets/redacted-url.ts'
import { originOf, type StoredCredentials } from './connector-credentials.ts'
import type { ConnectorRow } from './connectors-store.ts'
import type { ConnectorSettings, Credentials } from './connectors-types.ts'

/** Address of Anthropic's Skills API, the default for its connectors. */
export const anthropicUrl = 'https://api.anthropic.com'

/** The complete new settings of a connector, with all its credentials. */
export type WholeSettings = Omit<ConnectorSettings, 'credentials'> & { credentials: Credentials }

/**
 * Completes and validates settings. Throws `validation-failed` for inconsistent settings and for an address that the
 * Hub may not connect to. `pull` takes no address.
 */
export function checkSettings(settings: WholeSettings, outbound: Pick<Outbound, 'problemOf'>): WholeSettings {
  const { delivery, publish_url, credentials } = settings
  const isAnthropic = credentials.anthropic_api_key !== undefined
  const url = publish_url ?? (delivery === 'push' && isAnthropic ? anthropicUrl : undefined)
  const whole = { ...settings, ...(url !== undefined && { publish_url: url }) }
  const errors = problemsOfSettings(whole, { isAnthropic, hasUrl: url !== undefined }, outbound)
  if (errors.length > 0) throw validationFailed(errors)
  return whole
}

/** Returns further problems of a body that already failed validation, as far as its valid parts allow. */
export function furtherProblems(
  sound: ValidParts<ConnectorSettings>,
  body: ValidParts<ConnectorSettings>,
  outbound: Pick<Outbound, 'problemOf'>,
): PointedError[] {
  const isAnthropic = body.credentials?.anthropic_api_key !== undefined
  return problemsOfSettings(sound, { isAnthropic, hasUrl: body.publish_url !== undefined || isAnthropic }, outbound)
}

function problemsOfSettings(
  { platform, delivery, publish_url: url }: ValidParts<ConnectorSettings>,
  { isAnthropic, hasUrl }: { isAnthropic: boolean; hasUrl: boolean },
  outbound: Pick<Outbound, 'problemOf'>,
): PointedError[] {
  const errors: PointedError[] = []
  if (isAnthropic && platform !== undefined && platform !== 'claude') {
    errors.push({ pointer: '/credentials/anthropic_api_key', detail: 'is for the platform claude' })
  }
  const problem = url === undefined ? undefined : outbound.problemOf(url)
  if (delivery === 'pull' && url !== undefined) {
    errors.push({ pointer: '/publish_url', detail: 'is not allowed: with the delivery pull nothing is sent' })
  } else if (delivery === 'push' && !hasUrl) {
    errors.push({ pointer: '/publish_url', detail: 'is required: with the delivery push the manifest is sent to it' })
  } else if (problem !== undefined) errors.push({ pointer: '/publish_url', detail: problem })
  return errors
}

/**
 * Throws `validation-failed` if stored credentials would be sent to another origin than they were provided for.
 * Credentials provided with the delivery `pull` belong to no origin.
 */
export function requireOwnCredentials(kept: StoredCredentials, after: Pick<WholeSettings, 'publish_url'>): void {
  if (Object.keys(kept.credentials).length === 0 || after.publish_url === undefined) return
  if (kept.origin === originOf(after.publish_url)) return
  throw validationFailed([
    {
      pointer: '/credentials',
      detail: 'is required: the stored credentials were not given for the origin of `publish_url`',
    },
  ])
}

/** Returns the settings of a stored connector. */
export function settingsOf(row: ConnectorRow, credentials: Credentials): WholeSettings {
  const { platform, display_name, delivery, publish_url } = row
  return { platform, display_name, delivery, ...(publish_url !== null && { publish_url }), credentials }
}

export function columnsOf({ display_name, delivery, publish_url: url }: WholeSettings) {
  return { display_name, delivery, publish_url: url ?? null }
}

/**
 * Returns settings for events: only the names of credentials, and only the part of the address that may be stored
 * permanently.
 */
export function describeSettings(
  settings: WholeSettings,
  describeUrl: (url: string) => RedactedUrl,
): { [member: string]: JsonValue } {
  const { platform, display_name, delivery, publish_url } = settings
  const credentials = Object.keys(settings.credentials).sort()
  const described = { platform, display_name, delivery, credentials }
  if (publish_url === undefined) return described
  const { url, url_digest } = describeUrl(publish_url)
  return { ...described, publish_url: url, ...(url_digest !== undefined && { publish_url_digest: url_digest }) }
}
