import type { PointedError } from '../../../../contract/domain-error.ts'
import type { SoundParts } from '../../../http/sound-parts.ts'
import type { Outbound } from '../../../outbound/outbound.ts'
import type { GroupMapping } from '../../roster/directory/directory-types.ts'

/** In the names of the body. */
export interface ScimSettings {
  mode: 'push' | 'pull'
  base_url?: string
  bearer_token?: string
  group_archetype_map?: readonly GroupMapping[]
}

export interface CheckedScim {
  mode: 'push' | 'pull'
  pull?: { baseUrl: string; bearerToken: string }
  /** Each entry once; undefined leaves it as it is. */
  groupArchetypeMap?: readonly GroupMapping[]
}

/** What the schema cannot say of a configuration. */
export function problemsOfScim(
  { mode, base_url: url, bearer_token: bearerToken }: SoundParts<ScimSettings>,
  outbound: Pick<Outbound, 'problemOf'>,
): PointedError[] {
  const errors: PointedError[] = []
  const isPull = mode === 'pull'
  const isPush = mode === 'push'
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail })

  if (isPull && url === undefined) refuse('/base_url', 'must be there with mode pull: where the directory is read')
  if (isPull && bearerToken === undefined)
    refuse('/bearer_token', 'must be there with mode pull: the directory gives it')
  if (isPush && url !== undefined) refuse('/base_url', 'must not be there with mode push: the directory calls the Hub')
  if (isPush && bearerToken !== undefined) {
    refuse('/bearer_token', 'must not be there with mode push: the Hub makes the token and answers it')
  }
  const problem = !isPush && url !== undefined ? problemOfBaseUrl(url, outbound) : undefined
  if (problem !== undefined) refuse('/base_url', problem)
  return errors
}

/** @param settings without {@link problemsOfScim} */
export function readScim(settings: ScimSettings): CheckedScim {
  const { mode, base_url: url, bearer_token: bearerToken, group_archetype_map: map } = settings
  return {
    mode,
    ...(mode === 'pull' && { pull: { baseUrl: String(url).replace(/\/+$/, ''), bearerToken: String(bearerToken) } }),
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

function withoutRepeats(map: readonly GroupMapping[]): GroupMapping[] {
  const seen = new Map(map.map(({ group, archetype_id }) => [`${group}\0${archetype_id}`, { group, archetype_id }]))
  return [...seen.values()]
}
