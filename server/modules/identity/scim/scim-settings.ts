import type { Static } from 'typebox'
import type { PointedError } from '../../../../contract/domain-error.ts'
import type { ValidParts } from '../../../http/body/valid-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { GroupMapping } from '../../roster/directory/directory-types.ts'
import type { ScimConfigurationBody } from './scim-schemas.ts'

export type ScimSettings = Static<typeof ScimConfigurationBody>

export interface CheckedScim {
  mode: 'push' | 'pull'
  pull?: { baseUrl: string; bearerToken: string; isKnown: boolean }
  /** The mapping without duplicates; undefined leaves the stored one unchanged. */
  groupArchetypeMap?: readonly GroupMapping[]
}

/** The stored settings of a pull. The token is undefined if its key was destroyed. */
export interface KnownPull {
  baseUrl: string
  bearerToken: string | undefined
}

/** Returns the problems that the schema cannot express, independent of the stored configuration. */
export function problemsOfScim(
  { mode, base_url: url, bearer_token: bearerToken }: ValidParts<ScimSettings>,
  outbound: Pick<Outbound, 'problemOf'>,
): PointedError[] {
  const errors: PointedError[] = []
  const isPush = mode === 'push'
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail })

  if (isPush && url !== undefined) refuse('/base_url', 'is not allowed with mode push: the directory calls the Hub')
  if (isPush && bearerToken !== undefined) {
    refuse('/bearer_token', 'is not allowed with mode push: the Hub creates the token and returns it')
  }
  const problem = !isPush && url !== undefined ? problemOfBaseUrl(url, outbound) : undefined
  if (problem !== undefined) refuse('/base_url', problem)
  return errors
}

/** Returns the settings with omitted values filled in: the address, and the token of that address. */
export function completed(settings: ScimSettings, known: KnownPull | undefined): ScimSettings {
  if (settings.mode !== 'pull' || known === undefined) return settings
  const { base_url = known.baseUrl } = settings
  const { bearer_token = withoutSlash(base_url) === known.baseUrl ? known.bearerToken : undefined } = settings
  return { ...settings, base_url, ...(bearer_token !== undefined && { bearer_token }) }
}

export function missingIn({ mode, base_url: url, bearer_token: token }: ScimSettings): PointedError[] {
  if (mode !== 'pull') return []
  return [
    ...(url === undefined
      ? [{ pointer: '/base_url', detail: 'is required when mode is "pull": the address of the directory' }]
      : []),
    ...(token === undefined
      ? [{ pointer: '/bearer_token', detail: 'is required when mode is "pull": a token of the directory at base_url' }]
      : []),
  ]
}

/**
 * Reads the settings in their stored form.
 *
 * @param settings {@link completed}, with nothing missing and no problem
 * @param isKnown whether the token of a pull is the one configured before
 */
export function readScim(settings: ScimSettings, { isKnown = false }): CheckedScim {
  const { mode, base_url: url, bearer_token: bearerToken, group_archetype_map: map } = settings
  return {
    mode,
    ...(mode === 'pull' && { pull: { baseUrl: withoutSlash(String(url)), bearerToken: String(bearerToken), isKnown } }),
    ...(map && { groupArchetypeMap: withoutRepeats(map) }),
  }
}

function problemOfBaseUrl(url: string, outbound: Pick<Outbound, 'problemOf'>): string | undefined {
  const problem = outbound.problemOf(url)
  if (problem !== undefined) return problem
  if (/[?#]/.test(url)) return 'must have no query and no fragment'
  if (/\/(Users|Groups)\/*$/i.test(url)) return 'must be the address of the SCIM service, without /Users or /Groups'
  return undefined
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '')

function withoutRepeats(map: readonly GroupMapping[]): GroupMapping[] {
  const seen = new Map(map.map(({ group, archetype_id }) => [`${group}\0${archetype_id}`, { group, archetype_id }]))
  return [...seen.values()]
}
